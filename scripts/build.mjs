import { build, BuildError } from './lib/build.mjs';

const root = new URL('..', import.meta.url).pathname;

try {
  await build(root, console.log);
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
