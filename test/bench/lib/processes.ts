import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, temporaryFolder } from './cleanup.ts';
import { run } from './postgres.ts';

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
  readonly databaseUrl: string;
  /** What it sent to PostgreSQL since the last call, where count-statements.cjs is loaded into it. */
  statements(): Promise<readonly (readonly [string, number])[]>;
  stop(): Promise<void>;
}

/** Also for commands that read what the service signed. */
export const SECRETS_KEY = Buffer.alloc(32, 1).toString('base64');

const PATIENCE_MS = 120_000;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The compiled service as production runs it: authentication, limits, request log, metrics, background work. */
export async function startService(
  dist: string,
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const folder = temporaryFolder();
  const log = join(folder.path, 'service.log');
  const output = openSync(log, 'a');
  // As `npm start` and the image have it.
  const options = ['--max-semi-space-size=16', ...nodeOptions()];
  const child = spawn(process.execPath, [...options, join(dist, 'main.js')], {
    cwd: folder.path,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      PORT: '0',
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder.path,
      SECRETS_KEY,
      RATE_LIMIT_READ: '1000000000',
      RATE_LIMIT_WRITE: '1000000000',
      RATE_LIMIT_PERSON_READ: '1000000000',
      RATE_LIMIT_PERSON_WRITE: '1000000000',
      RATE_LIMIT_TRIAGE: '1000000000',
      RATE_LIMIT_WEBHOOK: '1000000000',
      ...settings,
    },
    stdio: ['ignore', output, output],
  });
  const end = atEnd(async () => {
    await stop(child);
    closeSync(output);
    folder.remove();
  });
  const said = () => readFileSync(log, 'utf8');
  const url = await waitFor(child, /Listening on (http:[^"\s]+)/, said, 'the service');
  const headers = { authorization: `Bearer ${await makeKey(databaseUrl)}` };
  const statements = async () => {
    const from = said().length;
    child.kill('SIGUSR2');
    const line = /STATEMENTS (.*)\n/;
    const counted = await waitFor(child, line, () => said().slice(from), 'the count');
    return JSON.parse(counted) as [string, number][];
  };
  return { url, headers, pid: child.pid!, databaseUrl, statements, stop: end };
}

/** Such as `--cpu-prof --cpu-prof-dir=…`, to see where the time goes. */
const nodeOptions = (): string[] => process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? [];

/** What a handful of lines can do: see bare-service.ts. */
export async function startBare(databaseUrl: string): Promise<Target> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', 'test/bench/bare-service.ts', databaseUrl],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const end = atEnd(() => stop(child));
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  const url = await waitFor(child, /(http:\S+)/, () => printed, 'the bare service');
  const statements = async () => [];
  return { url, headers: {}, pid: child.pid!, databaseUrl, statements, stop: end };
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
  address: RegExp,
  said: () => string,
  what: string,
): Promise<string> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline && isRunning(child)) {
    const found = address.exec(said())?.[1];
    if (found) return found;
    await sleep(50);
  }
  throw new Error(`Not started: ${what}. It said last:\n${said().slice(-2_000)}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;
