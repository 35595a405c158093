// For `node --require`: prints at the end which modules of OpenTelemetry were loaded. Its API alone comes with prom-
// client.
process.on('exit', () => {
  const loaded = Object.keys(require.cache).flatMap(
    (path) => /@opentelemetry\/(?!api\/)([^/]+)/.exec(path)?.[1] ?? [],
  );
  console.log(JSON.stringify({ msg: 'loaded', packages: [...new Set(loaded)].sort() }));
});
