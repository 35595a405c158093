import nodeModule from 'node:module';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * `npm start`: builds what is missing or stale, then becomes the service. It runs in this process, so that a signal
 * reaches the service itself and not a parent that may forget to pass it on.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const NEEDED = 24;

function refuse(line) {
  console.error(`Not started: ${line}`);
  process.exit(1);
}

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  refuse(
    `Node.js ${NEEDED} or newer is needed and this is ${process.versions.node}. On Linux \`npm ci && npm start\` brings its own.`,
  );
}
process.chdir(root);
try {
  const { build } = await import('./lib/build.mjs');
  await build(root, (line) => console.error(line));
} catch (error) {
  refuse(error.message);
}
if (existsSync('.env')) process.loadEnvFile('.env');
// Compiled code is kept between starts; where the folder cannot be written, Node goes on without it.
nodeModule.enableCompileCache(
  fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url)),
);
await import('../dist/main.js');
