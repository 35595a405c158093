import { createClient } from '@hey-api/openapi-ts';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

/*
 * The contract is as good as the client that comes out of it: one is generated (and not kept), and test/client/usage.ts
 * has to compile against it with every check of the compiler on.
 */
await createClient({
  input: './openapi/openapi.json',
  output: { path: 'test/client/generated', clean: true },
  logs: { level: 'warn', file: false },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
});
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'test/client/tsconfig.json'], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
