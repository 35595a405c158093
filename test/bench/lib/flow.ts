import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from './cleanup.ts';
import { newAlert, SENDER, signedRequest } from './deliveries.ts';
import { percentile, SpoiltShot } from './load.ts';
import { run, type Server } from './postgres.ts';
import { startService, type Target } from './processes.ts';
import { countProcessorTime } from './processor-time.ts';
import { RECEIPT_PATH } from './receipt-load.ts';
import { barrage } from './socket-load.ts';

/** From a signed event to the last of its four notifications, over a triage by rules and a playbook of two sandbox actions. */
export interface FlowCost {
  readonly events: number;
  /** Events a second, to the end of the stage. */
  readonly perSecond: Readonly<Record<Stage, number>>;
  /** These three for each event. */
  readonly statements: number;
  readonly commits: number;
  readonly processorMs: { readonly service?: number; readonly postgres?: number };
  readonly megabytes: number;
  /** In milliseconds from the incident to the end of the stage, one event at a time. */
  readonly alone: Readonly<Record<Stage, Times>>;
  /** The same while events come at a steady rate. */
  readonly steady: Readonly<Record<Stage, Times>>;
  /** The statements that were sent most often, for each event. */
  readonly most: readonly (readonly [string, number])[];
}

export interface Times {
  readonly p50: number;
  readonly p95: number;
}

export const STAGES = ['verdict', 'action', 'notified'] as const;
export type Stage = (typeof STAGES)[number];

export interface FlowPlan {
  readonly dist: string;
  readonly events: number;
  /** Events a second, while the times under load are taken. */
  readonly rate: number;
}

const CLIENTS = 16;
const WARM_UP = 200;
const ALONE = 30;
const STEADY_SECONDS = 10;
const NOTIFICATIONS = 4;
const MOST_STATEMENTS = 40;
const PATIENCE_MS = 300_000;
/** A look reads all deliveries, on the processors of what is measured. */
const LOOK_MS = 200;

const PLAYBOOK = {
  name: 'flow',
  description: 'Two actions of the sandbox.',
  enabled: true,
  auto_run: true,
  triggers: { incident_types: ['malware'] },
  steps: [
    { name: 'look_up', action: 'lookup_hash', parameters: { hash: '{{ incident.fields.hash }}' } },
    { name: 'scan', action: 'scan_host', parameters: { host_id: '{{ incident.fields.host }}' } },
  ],
};

export async function flowCost(server: Server, plan: FlowPlan): Promise<FlowCost> {
  const { dist, events, rate } = plan;
  const target = await startService(dist, await server.createDatabase('bench_flow'), {
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    TRIAGE_PROVIDER: 'rules',
    PLAYBOOK_RUNS_PER_HOUR: '0',
    BENCH_DIST: resolve(dist),
    NODE_OPTIONS: `--require ${resolve('test/bench/lib/count-statements.cjs')}`,
  });
  await prepare(target, await startSink());
  await flood(target, WARM_UP);

  await target.statements();
  const processorTime = await countProcessorTime(target);
  const commits = await commitsOf(target);
  const since = await nowOf(target);
  await flood(target, events);
  const sent = await target.statements();
  const used = await processorTime();
  const committed = (await commitsOf(target)) - commits;
  const megabytes = memoryOf(target);
  const perSecond = await ratesSince(target, since, events);

  const quiet = await nowOf(target);
  for (let n = 0; n < ALONE; n += 1) await flood(target, 1);
  const alone = await timesSince(target, quiet);
  const loaded = await nowOf(target);
  await atRate(target, rate);
  const steady = await timesSince(target, loaded);
  await target.stop();

  const each = (total: number) => total / events;
  return {
    events,
    perSecond,
    statements: each(sent.reduce((sum, [, count]) => sum + count, 0)),
    commits: each(committed),
    processorMs: {
      ...(used.server !== undefined && { service: each(used.server) / 1_000 }),
      ...(used.postgres !== undefined && { postgres: each(used.postgres) / 1_000 }),
    },
    megabytes,
    alone,
    steady,
    most: sent
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, MOST_STATEMENTS)
      .map(([name, count]) => [name, Math.round(each(count) * 100) / 100]),
  };
}

/** Takes notifications, as quickly as may be. */
async function startSink(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function prepare(target: Target, sink: string): Promise<void> {
  await ask(target, '/api/webhooks', { ...SENDER, auto_triage: true });
  await ask(target, '/api/connectors', { name: 'sandbox', type: 'sandbox', config: {} });
  await ask(target, '/api/playbooks', PLAYBOOK);
  await ask(target, '/api/notification-channels', {
    name: 'sink',
    type: 'webhook',
    events: ['incident.created', 'incident.triaged', 'action.completed'],
    config: { url: sink },
  });
}

async function ask({ url, headers }: Target, path: string, body: object): Promise<void> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new SpoiltShot(`${path}: ${answer.status} ${await answer.text()}`);
}

/** Sends alerts as quickly as they are taken, and waits until the last of them is told. */
async function flood(target: Target, count: number): Promise<void> {
  const before = await delivered(target);
  const { host } = new URL(target.url);
  const request = () => signedRequest({ host, path: RECEIPT_PATH, body: newAlert() });
  await barrage({
    url: target.url,
    clients: Math.min(CLIENTS, count),
    seconds: PATIENCE_MS / 1_000,
    requests: Array.from({ length: count }, request),
    heard: taken,
  });
  await until(target, before + count * NOTIFICATIONS);
}

async function atRate(target: Target, rate: number): Promise<void> {
  const before = await delivered(target);
  const { host } = new URL(target.url);
  const sent: Promise<unknown>[] = [];
  const begun = performance.now();
  const count = rate * STEADY_SECONDS;
  while (sent.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - begun) * rate) / 1_000) + 1);
    const requests = Array.from({ length: due - sent.length }, () =>
      signedRequest({ host, path: RECEIPT_PATH, body: newAlert() }),
    );
    for (const one of requests) {
      sent.push(
        barrage({ url: target.url, clients: 1, seconds: 60, requests: [one], heard: taken }),
      );
    }
    await sleep(5);
  }
  await Promise.all(sent);
  await until(target, before + count * NOTIFICATIONS);
}

function taken({ status, body }: { readonly status: number; readonly body: string }): void {
  if (status !== 200 && status !== 202) throw new SpoiltShot(`No figure: ${status} ${body}`);
}

async function until(target: Target, count: number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while ((await delivered(target)) < count) {
    if (Date.now() > deadline) throw new SpoiltShot('No figure: the flow did not end.');
    await sleep(LOOK_MS);
  }
}

async function delivered({ databaseUrl }: Target): Promise<number> {
  const [row] = await run<{ n: number }>(
    databaseUrl,
    `select count(*)::integer as n from notification_deliveries where status = 'delivered'`,
  );
  return row!.n;
}

async function nowOf({ databaseUrl }: Target): Promise<Date> {
  const [row] = await run<{ now: Date }>(databaseUrl, 'select now()');
  return row!.now;
}

async function commitsOf({ databaseUrl }: Target): Promise<number> {
  await sleep(1_500);
  const [row] = await run<{ n: number }>(
    databaseUrl,
    'select xact_commit::integer as n from pg_stat_database where datname = current_database()',
  );
  return row!.n;
}

function memoryOf({ pid }: Target): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
}

const ENDS = `
  select incident.created_at,
         (select max(completed_at) from triage_runs where incident_id = incident.id) as verdict,
         (select min(executed_at) from actions where incident_id = incident.id) as action,
         (select max(ended_at) from notification_deliveries where incident_id = incident.id) as notified
    from incidents incident where created_at >= $1`;

async function ratesSince(
  { databaseUrl }: Target,
  since: Date,
  events: number,
): Promise<Record<Stage, number>> {
  const columns = STAGES.map(
    (stage) => `extract(epoch from max(${stage}) - min(created_at))::float8 as ${stage}`,
  );
  const [row] = await run<Record<Stage, number>>(
    databaseUrl,
    `select ${columns.join(', ')} from (${ENDS}) as ends`,
    [since],
  );
  return byStage((stage) => events / row![stage]);
}

async function timesSince({ databaseUrl }: Target, since: Date): Promise<Record<Stage, Times>> {
  const columns = STAGES.map(
    (stage) => `(extract(epoch from ${stage} - created_at) * 1000)::float8 as ${stage}`,
  );
  const rows = await run<Record<Stage, number>>(
    databaseUrl,
    `select ${columns.join(', ')} from (${ENDS}) as ends`,
    [since],
  );
  return byStage((stage) => {
    const times = rows.map((row) => row[stage]);
    return { p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
  });
}

function byStage<T>(of: (stage: Stage) => T): Record<Stage, T> {
  return Object.fromEntries(STAGES.map((stage) => [stage, of(stage)])) as Record<Stage, T>;
}
