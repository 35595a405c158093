// For `node --require`: says at the end what of OpenTelemetry was loaded. Its API alone comes with prom-client.
process.on('exit', () => {
  const loaded = Object.keys(require.cache).flatMap(
    (path) => /@opentelemetry\/(?!api\/)([^/]+)/.exec(path)?.[1] ?? [],
  );
  console.log(JSON.stringify({ msg: 'loaded', packages: [...new Set(loaded)].sort() }));
});
