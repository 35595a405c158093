import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

export interface Server {
  readonly version: string;
  /** Creates an empty database and returns its URL. The database is dropped when the run ends. */
  createDatabase(name: string): Promise<string>;
}

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
  readonly databaseUrl: string;
  /**
   * Returns the statements that the target sent to PostgreSQL since the last call, if count-statements.cjs is loaded
   * into it.
   */
  statements(): Promise<readonly (readonly [string, number])[]>;
  stop(): Promise<void>;
}

const PATIENCE_MS = 300_000;
const ends: (() => Promise<void>)[] = [];

/** Registers a function to run at the end. The function that was registered last runs first. */
export const atEnd = (end: () => Promise<void>): unknown => ends.push(end);

/** Runs a program. Afterwards, even after a failure or a signal, ends its processes and removes its data. */
export async function runToEnd(main: () => Promise<void>): Promise<void> {
  const cleanUp = async () => {
    for (const end of ends.splice(0).reverse()) await end().catch(fail);
  };
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
  }
  await main().catch(fail);
  await cleanUp();
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}

function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'its-bench-'));
  atEnd(async () => rmSync(path, { recursive: true, force: true }));
  return path;
}

/**
 * Starts a PostgreSQL that writes to its disk as in production: the server of BENCH_DATABASE_URL, or an embedded
 * server.
 */
export async function startPostgres(dist: string): Promise<Server> {
  const url = process.env['BENCH_DATABASE_URL'] || (await startEmbedded(dist));
  const [row] = await run<{ version: string }>(url, 'select version()');
  return {
    version: row!.version,
    createDatabase: async (name) => {
      const drop = async () =>
        void (await run(url, `drop database if exists ${name} with (force)`));
      await drop();
      await run(url, `create database ${name}`);
      atEnd(drop);
      return Object.assign(new URL(url), { pathname: `/${name}` }).href;
    },
  };
}

async function startEmbedded(dist: string): Promise<string> {
  const path = join(dist, 'platform/database/embedded/embedded-postgres.js');
  const { startEmbeddedPostgres } = (await import(pathToFileURL(path).href)) as {
    startEmbeddedPostgres(options: object): Promise<{ url: string; stop(): Promise<void> }>;
  };
  const embedded = await startEmbeddedPostgres({ dataDir: temporaryFolder() });
  atEnd(() => embedded.stop());
  const superuser = Object.assign(new URL(embedded.url), { username: 'postgres' });
  await run(superuser.href, 'alter role incidents createdb');
  return embedded.url;
}

export async function run<R extends pg.QueryResultRow = pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Waits until a condition of SQL holds in the database of a target. */
export async function until({ databaseUrl }: Target, condition: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(200)) {
    const [row] = await run<{ holds: boolean }>(databaseUrl, `select (${condition}) as holds`);
    if (row!.holds) return;
  }
  throw new Error(
    `After ${PATIENCE_MS / 1_000} s this condition still does not hold: ${condition}`,
  );
}

/**
 * Starts the compiled service as in production, with authentication, limits, request log, metrics and background work.
 */
export async function startService(
  dist: string,
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const key = `its_${randomBytes(4).toString('hex')}_${randomBytes(32).toString('base64url')}`;
  // The limits of the heap are those of the container image.
  const heap = ['--max-semi-space-size=32', '--max-old-space-size=768'];
  const options = [heap, process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? []];
  const dataDir = temporaryFolder();
  return await startTarget([...options.flat(), join(dist, 'main.js')], databaseUrl, key, {
    NODE_ENV: 'production',
    PORT: '0',
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    BOOTSTRAP_ADMIN_API_KEY: key,
    RATE_LIMIT_READ: '1000000000',
    RATE_LIMIT_WRITE: '1000000000',
    RATE_LIMIT_PERSON_READ: '1000000000',
    RATE_LIMIT_PERSON_WRITE: '1000000000',
    RATE_LIMIT_TRIAGE: '1000000000',
    RATE_LIMIT_WEBHOOK: '1000000000',
    ...settings,
  });
}

/** Starts the baseline: see bare-service.ts. */
export async function startBare(databaseUrl: string): Promise<Target> {
  const options = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', 'test/bench/bare-service.ts'];
  return await startTarget([...options, databaseUrl], databaseUrl);
}

async function startTarget(
  args: readonly string[],
  databaseUrl: string,
  key?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const log = join(temporaryFolder(), 'log');
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (isRunning(child) && child.kill('SIGTERM')) await ended;
  };
  atEnd(stop);
  const logged = async (pattern: RegExp, from = 0): Promise<string> => {
    const text = () => readFileSync(log, 'utf8').slice(from);
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(50)) {
      const found = pattern.exec(text())?.[1];
      if (found) return found;
      if (!isRunning(child)) break;
    }
    throw new Error(`${args.at(-1)} never logged ${String(pattern)}:\n${text().slice(-2_000)}`);
  };
  return {
    url: await logged(/Listening on (http:[^"\s]+)/),
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    pid: child.pid!,
    databaseUrl,
    statements: async () => {
      const from = readFileSync(log, 'utf8').length;
      child.kill('SIGUSR2');
      return JSON.parse(await logged(/STATEMENTS (.*)\n/, from)) as [string, number][];
    },
    stop,
  };
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/** Creates a resource through the API of the service. */
export async function post({ url, headers }: Target, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}
