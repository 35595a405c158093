/*
 * `main.ts` imports this file first, because the first process of a container ignores signals that it does not listen to.
 */

/** Resolves with the first SIGTERM or SIGINT. Later signals have no effect. */
export const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve);
});
