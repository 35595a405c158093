/* How large the database is, and how long the commands of docs/operations.md take, at several numbers of incidents. Each incident has
 * three entries in its timeline and three in the audit trail. The commands run as processes, as the image runs them.
 *
 *   node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON test/bench/operations.ts      (after a build)
 *
 *   BENCH_SIZES (10000,200000,1000000), BENCH_DIST (dist), BENCH_DATABASE_URL as for run.ts
 *   BENCH_REPORT (docs/bench/operations.json)
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { seedAudit, seedTimeline } from './lib/audit-seed.ts';
import { atEnd, cleanUp, cleanUpOnSignals, temporaryFolder } from './lib/cleanup.ts';
import { run, type Server, startPostgres } from './lib/postgres.ts';
import { SECRETS_KEY, startService, type Target } from './lib/processes.ts';
import { seedService } from './lib/seed.ts';

const sizes = (process.env['BENCH_SIZES'] ?? '10000,200000,1000000').split(',').map(Number);
const dist = resolve(process.env['BENCH_DIST'] ?? 'dist');
const file = process.env['BENCH_REPORT'] ?? 'docs/bench/operations.json';

interface Cost {
  readonly incidents: number;
  readonly load: number;
  /** Megabytes. */
  readonly database: number;
  readonly backupFile: number;
  readonly exportFile: number;
  /** Seconds. */
  readonly seal: number;
  readonly verify: number;
  readonly exportTrail: number;
  readonly verifyExport: number;
  readonly backup: number;
  readonly restore: number;
  readonly migrate: number;
  readonly start: number;
}

const MB = 1_000_000;
const sizeOf = (path: string): number => statSync(path).size / MB;

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

async function main(): Promise<void> {
  const server = await startPostgres(dist);
  const costs: Cost[] = [];
  for (const incidents of sizes) {
    costs.push(await costOf(server, incidents));
    report(costs);
  }
}

async function costOf(server: Server, incidents: number): Promise<Cost> {
  const load = loadavg()[0]!;
  const folder = temporaryFolder();
  atEnd(async () => folder.remove());
  const [backupFile, exportFile] = [join(folder.path, 'a.backup'), join(folder.path, 'a.ndjson')];
  const database = await server.createDatabase(`bench_operations_${incidents}`);
  const service = await startService(dist, database);
  await seedService(database, incidents);
  await seedTimeline(database);
  await seedAudit(dist, database);
  const seal = await secondsOf(() => untilSealed(database));
  await run(database, 'vacuum analyze');
  const verify = await secondsOf(() => verifyTrail(service));
  const exportTrail = await secondsOf(() => saveExport(service, exportFile));
  const verifyExport = await secondsOf(() => command(database, 'audit-verify', exportFile));
  const backup = await secondsOf(() => command(database, 'backup', backupFile));
  await service.stop();
  const migrate = await secondsOf(() => command(database, 'migrate'));
  let again: Target | undefined;
  const start = await secondsOf(async () => (again = await startService(dist, database)));
  await again!.stop();
  const empty = await server.createDatabase(`bench_operations_${incidents}_restored`);
  const restore = await secondsOf(() => command(empty, 'restore', backupFile));
  const [size] = await run<{ bytes: string }>(
    database,
    'select pg_database_size(current_database()) as bytes',
  );
  const cost = {
    incidents,
    load,
    database: Number(size!.bytes) / MB,
    backupFile: sizeOf(backupFile),
    exportFile: sizeOf(exportFile),
    ...{ seal, verify, exportTrail, verifyExport, backup, restore, migrate, start },
  };
  folder.remove();
  return cost;
}

/** The sealer of the service works beside everything else, as in production. */
async function untilSealed(database: string): Promise<void> {
  for (;;) {
    const [row] = await run<{ done: boolean }>(
      database,
      'select (select count(*) from audit_log) = (select coalesce(max(seq), 0) from audit_seals) as done',
    );
    if (row!.done) return;
    await sleep(1_000);
  }
}

/** Without fetch, which gives up after five minutes without an answer. */
async function answerOf({ url, headers }: Target, path: string): Promise<IncomingMessage> {
  const [answer] = (await once(get(`${url}${path}`, { headers }), 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}.`);
  return answer;
}

async function verifyTrail(service: Target): Promise<void> {
  const { data } = (await json(await answerOf(service, '/api/audit/verify'))) as {
    data: { valid: boolean };
  };
  if (!data.valid) throw new Error(`Verification failed: ${JSON.stringify(data)}`);
}

async function saveExport(service: Target, path: string): Promise<void> {
  await pipeline(await answerOf(service, '/api/audit/export'), createWriteStream(path));
}

async function command(database: string, name: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [join(dist, 'cli', `${name}.js`), ...args], {
    env: { PATH: process.env['PATH'], DATABASE_URL: database, SECRETS_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (said = (said + String(chunk)).slice(-4_000)));
  }
  const code = await new Promise<number | null>((done) => child.once('exit', done));
  if (code !== 0) throw new Error(`${name} ended with ${String(code)}:\n${said}`);
}

function report(costs: readonly Cost[]): void {
  const before = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { costs: Cost[] }).costs
    : [];
  const measured = new Set(costs.map(({ incidents }) => incidents));
  const all = [...before.filter(({ incidents }) => !measured.has(incidents)), ...costs];
  const machine = {
    node: process.version,
    processors: cpus().length,
    model: cpus()[0]?.model,
    memoryGb: Math.round(totalmem() / 1e9),
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `${JSON.stringify({ at: new Date().toISOString(), machine, costs: all }, null, 2)}\n`,
  );
  for (const { incidents, ...figures } of costs) {
    const shown = Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(1)}`);
    process.stdout.write(`${incidents} incidents: ${shown.join(', ')}\n`);
  }
}

function fail(error: unknown): void {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
}

cleanUpOnSignals();
main().catch(fail).finally(cleanUp).catch(fail);
