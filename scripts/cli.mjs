import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from './lib/build.mjs';

/** Runs a command under src/cli: `node scripts/cli.mjs create-admin alice`. */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const [command] = process.argv.splice(2, 1);
try {
  await build(process.cwd(), (line) => console.error(line));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
if (existsSync('.env')) process.loadEnvFile('.env');
await import(`../dist/cli/${command}.js`);
