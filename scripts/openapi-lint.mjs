import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toOpenApi31 } from '../src/platform/openapi/version-3-1.ts';

/** Lints the contract, also in OpenAPI 3.1 as the service converts it, with nothing sent anywhere. */
const cli = createRequire(import.meta.url).resolve('@redocly/cli/package.json');
const folder = mkdtempSync(join(tmpdir(), 'its-openapi-'));
const converted = join(folder, 'openapi-3.1.json');
try {
  const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'));
  writeFileSync(converted, JSON.stringify(toOpenApi31(document), null, 2));
  const { status } = spawnSync(
    process.execPath,
    [
      join(dirname(cli), 'bin', 'cli.js'),
      'lint',
      '--config',
      'openapi/redocly.yaml',
      'openapi/openapi.json',
      'openapi/openapi.yaml',
      converted,
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      },
    },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
