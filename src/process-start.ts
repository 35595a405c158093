/*
 * `main.ts` imports this file first. An older Node.js would fail in a dependency with an unhelpful message, and the first
 * process of a container ignores signals that it does not listen to.
 */

const NEEDED = 24;

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `Not started: Node.js ${NEEDED} or newer is required, this is ${process.versions.node}. On Linux \`npm start\` brings its own.\n`,
  );
  process.exit(1);
}

/** Resolves with the first SIGTERM or SIGINT. Later signals have no effect. */
export const stopAsked = new Promise<NodeJS.Signals>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve);
});
