import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Lints the contract without telemetry. */
const cli = createRequire(import.meta.url).resolve('@redocly/cli/package.json');
const { status } = spawnSync(
  process.execPath,
  [
    join(dirname(cli), 'bin', 'cli.js'),
    'lint',
    '--config',
    'openapi/redocly.yaml',
    'openapi/openapi.json',
    'openapi/openapi.yaml',
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  },
);
process.exitCode = status ?? 1;
