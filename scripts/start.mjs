import nodeModule from 'node:module';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * `npm start`: builds missing or outdated parts, then loads the service in the same process, so that signals reach the
 * service directly.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const NEEDED = 24;

function refuse(line) {
  console.error(`Not started: ${line}`);
  process.exit(1);
}

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  refuse(
    `Node.js ${NEEDED} or newer is required, but this is ${process.versions.node}. On Linux, \`npm ci\` installs it: run \`npm ci && npm start\`.`,
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
// Caches compiled code between starts. Node continues without the cache if the folder is not writable.
nodeModule.enableCompileCache(
  fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url)),
);
await import('../dist/main.js');
