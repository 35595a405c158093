import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from './lib/service.mjs';

/*
 * Throws generated requests, good and bad, at a running service and holds every answer against the contract. The seed
 * and the budget are fixed, so that a run says the same twice: FUZZ_EXAMPLES and FUZZ_SEED look further.
 */
const REQUIREMENTS = 'scripts/fuzz-requirements.txt';
const VENV = 'node_modules/.cache/fuzz-venv';
const PYTHON = join(VENV, 'bin', 'python');
const EXAMPLES = process.env.FUZZ_EXAMPLES ?? '12';
const SEED = process.env.FUZZ_SEED ?? '20261121';

function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (error) throw error;
  return status ?? 1;
}

/** Installed beside the node packages, once for each version that the requirements name. */
function install() {
  const marker = join(VENV, 'installed');
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  mkdirSync('node_modules/.cache', { recursive: true });
  const failed =
    run('python3', ['-m', 'venv', '--clear', VENV]) ||
    run(PYTHON, ['-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS]);
  if (failed) throw new Error('Schemathesis could not be installed.');
  writeFileSync(marker, wanted);
}

async function idOfKey({ url, key }) {
  const answer = await fetch(`${url}/api/api-keys`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = await answer.json();
  return data.find(({ prefix }) => key.includes(prefix)).id;
}

install();
const service = await startService({
  RATE_LIMIT_READ: '0',
  RATE_LIMIT_WRITE: '0',
  RATE_LIMIT_TRIAGE: '0',
  // The address that each request names.
  TRUST_PROXY: '127.0.0.1/32',
});
try {
  const options = [
    ['--url', service.url],
    ['--header', `Authorization: Bearer ${service.key}`],
    ['--seed', SEED],
    ['--max-examples', EXAMPLES],
    ['--workers', '1'],
    ['--generation-database', 'none'],
    ['--no-color'],
  ].flat();
  const command = ['--config-file', 'openapi/schemathesis.toml', 'run', 'openapi/openapi.json'];
  process.exitCode = run(
    PYTHON,
    ['-m', 'schemathesis.cli', ...command, ...options, ...process.argv.slice(2)],
    { FUZZ_KEY_ID: await idOfKey(service) },
  );
} finally {
  await service.stop();
}
