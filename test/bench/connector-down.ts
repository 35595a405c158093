/* What a connector that hangs costs the others: the same steady load with one connector well and with it hanging, in turns.
 * Actions at another connector, a list of incidents, new incidents and the look at an action are timed, one by one.
 *
 *   node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON test/bench/connector-down.ts      (after a build)
 *
 *   BENCH_DATABASE_URL  as for run.ts
 *   BENCH_SECONDS (10), BENCH_ROUNDS (3), BENCH_ROWS (10000), BENCH_DIST (dist)
 *   BENCH_REPORT (docs/bench/connector-down.json)
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, cleanUpOnSignals } from './lib/cleanup.ts';
import { median, percentile, SpoiltShot } from './lib/load.ts';
import { run, startPostgres } from './lib/postgres.ts';
import { startService, type Target } from './lib/processes.ts';
import { seedService } from './lib/seed.ts';
import { ask, type Stream, steady, type Timed } from './lib/steady.ts';
import { startTwoVendors, type TwoVendors } from './lib/two-vendors.ts';

const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const plan = {
  seconds: number('BENCH_SECONDS', 10),
  rounds: number('BENCH_ROUNDS', 3),
  rows: number('BENCH_ROWS', 10_000),
};
/** Each stream, and what is asked of the connector that hangs. */
const PER_SECOND = 15;
const DRAINED_WITHIN_MS = 60_000;

type Phase = 'well' | 'hanging';
type Times = Readonly<Record<Phase, readonly Timed[]>>;

const WELL = { action: 'block_sender', parameters: { sender: 'ceo@examp1e.com' } };
const OTHER = {
  action: 'quarantine_email',
  parameters: { message_id: '<4f2a1c@mail.example.net>' },
};
const INCIDENT = { incident_type: 'phishing', severity: 'high', source: 'bench' };

function streamsOf(read: string): readonly Stream[] {
  const execute = '/api/actions/execute';
  return [
    { what: 'action at the other connector', method: 'POST', path: execute, body: WELL },
    { what: 'list of 20 incidents', method: 'GET', path: '/api/incidents' },
    { what: 'new incident', method: 'POST', path: '/api/incidents', body: INCIDENT },
    { what: 'look at an action', method: 'GET', path: `/api/actions/${read}` },
  ];
}

async function main(): Promise<void> {
  const atStart = loadavg();
  const dist = resolve(process.env['BENCH_DIST'] ?? 'dist');
  const server = await startPostgres(dist);
  const database = await server.createDatabase('bench_connector_down');
  const service = await startService(dist, database, { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' });
  await seedService(database, plan.rows);
  const vendors = await startTwoVendors();
  const other = await connect(service, vendors);
  const { data } = await ask(service, 'POST', '/api/actions/execute', WELL);
  const streams = streamsOf(String(data.action_id));

  const times = new Map(
    streams.map((one) => [one, { well: [] as Timed[], hanging: [] as Timed[] }]),
  );
  const hung: number[] = [];
  await steady(service, streams, { perSecond: PER_SECOND, seconds: 2 });
  for (let round = 0; round < plan.rounds; round += 1) {
    const order: Phase[] = round % 2 === 0 ? ['well', 'hanging'] : ['hanging', 'well'];
    for (const phase of order) {
      vendors.hangs = phase === 'hanging';
      await renewBreaker(service, other, round);
      const asked = [
        ...streams,
        { what: '', method: 'POST', path: '/api/actions/execute', body: OTHER } as const,
      ];
      const { timed, left } = await steady(service, asked, {
        perSecond: PER_SECOND,
        seconds: plan.seconds,
      });
      streams.forEach((stream, at) => times.get(stream)![phase].push(...timed[at]!));
      if (phase === 'hanging') hung.push(vendors.hanging);
      vendors.letGo();
      await left;
      await drained(service);
    }
  }
  await vendors.stop();
  await service.stop();
  report(times, hung, atStart, server.version);
}

/** Both are asked over HTTP, with a connector for each. Answers the id of the one that will hang. */
async function connect(service: Target, vendors: TwoVendors): Promise<string> {
  const add = async (name: string, type: string): Promise<string> => {
    const actions = { [type]: { path: `/${name}`, body: { id: '{{ action.id }}' } } };
    const config = { base_url: vendors.url, actions };
    const { data } = await ask(service, 'POST', '/api/connectors', { name, type: 'http', config });
    return String(data.id);
  };
  await add('well', WELL.action);
  return await add('other', OTHER.action);
}

/** A change of the connector makes a new one of it, whose breaker knows nothing of the phase before. */
async function renewBreaker(service: Target, id: string, round: number): Promise<void> {
  await ask(service, 'PUT', `/api/connectors/${id}`, { priority: 100 + (round % 2) });
}

async function drained({ databaseUrl }: Target): Promise<void> {
  for (const end = Date.now() + DRAINED_WITHIN_MS; ; await sleep(200)) {
    const [row] = await run<{ n: number }>(
      databaseUrl,
      `select count(*)::integer as n from actions where status = 'pending'`,
    );
    if (row?.n === 0) return;
    if (Date.now() > end) throw new Error(`${row?.n} actions never ended.`);
  }
}

function report(
  times: ReadonlyMap<Stream, Times>,
  hung: number[],
  atStart: number[],
  postgres: string,
): void {
  const figures = [...times].map(([{ what }, { well, hanging }]) => {
    const of = (all: readonly Timed[]) => ({
      requests: all.length,
      p50: percentile(all, 0.5),
      p99: percentile(all, 0.99),
    });
    return { what, well: of(well), hanging: of(hanging) };
  });
  const load = { start: atStart, end: loadavg() };
  const shown = (ms: number): string => ms.toFixed(1);
  process.stdout.write(
    `load ${load.start.map(shown).join(' ')} to ${load.end.map(shown).join(' ')}; ${median(hung)} calls hung\n`,
  );
  for (const { what, well, hanging } of figures) {
    process.stdout.write(
      `${what}: p50 ${shown(well.p50)} / ${shown(hanging.p50)} ms, p99 ${shown(well.p99)} / ${shown(hanging.p99)} ms, ` +
        `${well.requests} / ${hanging.requests} requests\n`,
    );
  }
  const machine = {
    node: process.version,
    processors: cpus().length,
    model: cpus()[0]?.model,
    load,
    postgres,
  };
  const file = process.env['BENCH_REPORT'] ?? 'docs/bench/connector-down.json';
  const all = { at: new Date().toISOString(), machine, plan, perSecond: PER_SECOND, hung, figures };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
}

function fail(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`${error instanceof SpoiltShot ? message : (stack ?? message)}\n`);
  process.exitCode = 1;
}

cleanUpOnSignals();
main().catch(fail).finally(cleanUp).catch(fail);
