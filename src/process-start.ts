/* `main.ts` imports this file first. The first process of a container ignores a signal for which it has no listener. */

/** Resolves with the first SIGTERM or SIGINT. Later signals have no effect. */
export const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve);
});
