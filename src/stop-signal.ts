/**
 * The first SIGTERM or SIGINT; later ones neither shorten nor break what it began. Imported before all that takes time
 * to load, because the first process of a container never hears of a signal that nobody listens to.
 */
export const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve);
});
