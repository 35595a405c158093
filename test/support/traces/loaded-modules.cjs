// For `node --require`: at the end, prints which modules of OpenTelemetry were loaded. Its API package alone is no sign
// of tracing, because prom-client depends on it.
process.on('exit', () => {
  const loaded = Object.keys(require.cache).flatMap(
    (path) => /@opentelemetry\/(?!api\/)([^/]+)/.exec(path)?.[1] ?? [],
  );
  console.log(JSON.stringify({ msg: 'loaded', packages: [...new Set(loaded)].sort() }));
});
