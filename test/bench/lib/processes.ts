import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './postgres.ts';

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const PATIENCE_MS = 120_000;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The compiled service as production runs it: authentication, limits, request log, metrics, background work. */
export async function startService(dist: string, databaseUrl: string): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'its-bench-service-'));
  const log = join(folder, 'service.log');
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, [join(dist, 'main.js')], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      PORT: '0',
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
      RATE_LIMIT_READ: '1000000000',
      RATE_LIMIT_WRITE: '1000000000',
      RATE_LIMIT_TRIAGE: '1000000000',
    },
    stdio: ['ignore', output, output],
  });
  const url = await waitFor(
    child,
    () => /Listening on (http:[^"\s]+)/.exec(readFileSync(log, 'utf8'))?.[1],
    log,
  );
  return {
    url,
    headers: { authorization: `Bearer ${await makeKey(databaseUrl)}` },
    stop: () => stop(child),
  };
}

/** What a handful of lines can do: see bare-service.ts. */
export async function startBare(databaseUrl: string): Promise<Target> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', 'test/bench/bare-service.ts', databaseUrl],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  const url = await waitFor(child, () => /http:\S+/.exec(printed)?.[0], 'the bare service');
  return { url, headers: {}, stop: () => stop(child) };
}

async function makeKey(databaseUrl: string): Promise<string> {
  const letters = (count: number) =>
    Array.from(randomBytes(count), (byte) => BASE62[byte % BASE62.length]).join('');
  const prefix = letters(8);
  const key = `its_${prefix}_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(key).digest();
  await run(
    databaseUrl,
    `insert into api_keys (id, name, role, prefix, secret_hash, created_by)
     values (gen_random_uuid(), $1, 'admin', $2, $3, 'bench')`,
    [`bench-${prefix}`, prefix, hash],
  );
  return key;
}

async function waitFor(
  child: ChildProcess,
  ready: () => string | undefined,
  what: string,
): Promise<string> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const found = ready();
    if (found) return found;
    await sleep(50);
  }
  throw new Error(`Not started: ${what}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
