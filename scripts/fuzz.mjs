import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from './lib/service.mjs';

/*
 * Sends generated valid and invalid requests to a running service, as a stranger, a viewer and an admin, and compares
 * every response with the contract. The seed and the number of requests are fixed, so that runs are reproducible.
 * FUZZ_EXAMPLES and FUZZ_SEED change them; FUZZ_AS=viewer,admin selects callers.
 */
const REQUIREMENTS = 'scripts/fuzz-requirements.txt';
const VENV = 'node_modules/.cache/fuzz-venv';
const PYTHON = join(VENV, 'bin', 'python');
const EXAMPLES = Number(process.env.FUZZ_EXAMPLES ?? '12');
const SEED = process.env.FUZZ_SEED ?? '20261121';

function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (error) throw error;
  return status ?? 1;
}

/** Installs the fuzzer next to the node packages, once per version in the requirements. */
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

async function call({ url, key }, method, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  return (await answer.json()).data;
}

/** Returns the callers and the share of the requests that each of them sends. The admin may use every operation. */
async function senders(service) {
  const keys = await call(service, 'GET', '/api/api-keys');
  const ownId = keys.find(({ prefix }) => service.key.includes(prefix)).id;
  const viewer = await call(service, 'POST', '/api/api-keys', { name: 'fuzz', role: 'viewer' });
  const all = [
    { name: 'nobody', share: 0.1 },
    { name: 'viewer', share: 0.3, key: viewer.key },
    { name: 'admin', share: 1, key: service.key },
  ];
  return { all, keyIds: [ownId, viewer.id].join(' ') };
}

function fuzz({ name, share, key }, service, keyIds) {
  console.log(`\nAs ${name}`);
  const options = [
    ['--url', service.url],
    key ? ['--header', `Authorization: Bearer ${key}`] : [],
    ['--seed', SEED],
    ['--max-examples', String(Math.max(1, Math.round(EXAMPLES * share)))],
    ['--workers', '1'],
    ['--generation-database', 'none'],
    ['--no-color'],
  ].flat();
  const command = ['--config-file', 'openapi/schemathesis.toml', 'run', 'openapi/openapi.json'];
  return run(PYTHON, ['-m', 'schemathesis.cli', ...command, ...options, ...process.argv.slice(2)], {
    FUZZ_KEY_IDS: keyIds,
    FUZZ_URL: service.url,
    FUZZ_ADMIN_KEY: service.key,
  });
}

install();
const service = await startService({
  RATE_LIMIT_READ: '0',
  RATE_LIMIT_WRITE: '0',
  RATE_LIMIT_PERSON_READ: '0',
  RATE_LIMIT_PERSON_WRITE: '0',
  RATE_LIMIT_TRIAGE: '0',
  // Trusts the fuzzer as a proxy, because each request names its address in X-Forwarded-For.
  TRUST_PROXY: '127.0.0.1/32',
});
try {
  const { all, keyIds } = await senders(service);
  const only = process.env.FUZZ_AS?.split(',');
  const chosen = all.filter(({ name }) => !only || only.includes(name));
  const results = chosen.map((sender) => fuzz(sender, service, keyIds));
  process.exitCode = Math.max(...results);
} finally {
  await service.stop();
}
