import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX } from './comparisons.ts';
import { barrage, countProcessorTime, percentile } from './load.ts';
import { post, run, type Server, startService, type Target, until } from './processes.ts';
import { newEvent, RECEIPT_PATH, SENDER, signedRequest } from './requests.ts';

/**
 * Cost of the flow from a signed event to the last of its four notifications: triage by rules, and a playbook with two
 * sandbox actions.
 */
export interface FlowCost {
  readonly events: number;
  /** Events per second, until the end of the stage. */
  readonly perSecond: ByStage<number>;
  /** Statements, commits and milliseconds per event. */
  readonly statements: number;
  readonly commits: number;
  readonly processorMs: { readonly service: number; readonly postgres: number };
  readonly megabytes: number;
  /** Milliseconds from the incident to the end of the stage, if events are sent one at a time. */
  readonly alone: ByStage<Times>;
  /** Milliseconds from the incident to the end of the stage, at a steady rate of events. */
  readonly steady: ByStage<Times>;
  /** The most frequent statements, with their number per event. */
  readonly most: readonly (readonly [string, number])[];
}

interface Times {
  readonly p50: number;
  readonly p95: number;
}

export const STAGES = ['verdict', 'action', 'notified'] as const;
type Stage = (typeof STAGES)[number];
type ByStage<T> = Readonly<Record<Stage, T>>;

export interface FlowPlan {
  readonly dist: string;
  readonly events: number;
  /** Events per second at the steady rate. */
  readonly rate: number;
}

const CLIENTS = 16;
const WARM_UP = 200;
const ALONE = 30;
const STEADY_SECONDS = 10;
const NOTIFICATIONS = 4;
/** Number of notifications that the sink has received. */
let received = 0;
const MOST_STATEMENTS = 40;

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
  const sink = createServer((request, response) => {
    received += 1;
    request.resume().on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((listening) => sink.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`;
  await post(target, '/api/webhooks', { ...SENDER, auto_triage: true });
  await post(target, '/api/connectors', SANDBOX);
  await post(target, '/api/playbooks', PLAYBOOK);
  await post(target, '/api/notification-channels', {
    name: 'sink',
    type: 'webhook',
    events: ['incident.created', 'incident.triaged', 'action.completed'],
    config: { url },
  });
  await flood(target, WARM_UP);

  await target.statements();
  const processorTime = await countProcessorTime(target);
  const commits = await commitsOf(target);
  const ends = await endsDuring(target, () => flood(target, events));
  const sent = await target.statements();
  const used = await processorTime();
  const committed = (await commitsOf(target)) - commits;
  const megabytes = memoryOf(target);
  const alone = await endsDuring(target, async () => {
    for (let n = 0; n < ALONE; n += 1) await flood(target, 1);
  });
  const steady = await endsDuring(target, () => atRate(target, rate));
  await target.stop();
  sink.close().closeAllConnections();

  const first = Math.min(...ends.map(({ created }) => created));
  return {
    events,
    perSecond: byStage((stage) => {
      return events / ((Math.max(...ends.map((end) => end[stage])) - first) / 1_000);
    }),
    statements: sent.reduce((sum, [, count]) => sum + count, 0) / events,
    commits: committed / events,
    processorMs: {
      service: used.server / events / 1_000,
      postgres: used.postgres / events / 1_000,
    },
    megabytes,
    alone: timesOf(alone),
    steady: timesOf(steady),
    most: sent
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, MOST_STATEMENTS)
      .map(([name, count]) => [name, Math.round((count / events) * 100) / 100]),
  };
}

/** Sends alerts as quickly as the service accepts them, and waits for their last notification. */
async function flood(target: Target, count: number): Promise<void> {
  const notified = await notificationsOf(target, count);
  await send(target, count, Math.min(CLIENTS, count));
  await notified();
}

async function atRate(target: Target, rate: number): Promise<void> {
  const length = rate * STEADY_SECONDS;
  const notified = await notificationsOf(target, length);
  const sendLater = async (_: unknown, n: number) => {
    await sleep((n * 1_000) / rate);
    await send(target, 1, 1);
  };
  await Promise.all(Array.from({ length }, sendLater));
  await notified();
}

async function send(target: Target, length: number, clients: number): Promise<void> {
  const signed = () => signedRequest(target, RECEIPT_PATH, newEvent());
  const requests = Array.from({ length }, signed).values();
  await barrage(target, { clients, seconds: 300, requests });
}

/**
 * Returns a function that waits until `events` more events are notified. Reads the database only when the sink has all
 * notifications.
 */
async function notificationsOf(target: Target, events: number): Promise<() => Promise<void>> {
  const delivered = `select count(*)::integer as n from notification_deliveries where status = 'delivered'`;
  const [row] = await run<{ n: number }>(target.databaseUrl, delivered);
  const wanted = received + events * NOTIFICATIONS;
  return async () => {
    while (received < wanted) await sleep(10);
    await until(target, `(${delivered}) >= ${row!.n + events * NOTIFICATIONS}`);
  };
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

/** For each incident created during `work`, returns the times in ms at which it was created and finished each stage. */
async function endsDuring({ databaseUrl }: Target, work: () => Promise<void>) {
  const [begin] = await run<{ now: Date }>(databaseUrl, 'select now()');
  await work();
  const milliseconds = (time: string) => `(extract(epoch from ${time}) * 1000)::float8`;
  return await run<ByStage<number> & { readonly created: number }>(
    databaseUrl,
    `select ${milliseconds('created_at')} as created,
            (select ${milliseconds('max(completed_at)')} from triage_runs where incident_id = incident.id) as verdict,
            (select ${milliseconds('min(executed_at)')} from actions where incident_id = incident.id) as action,
            (select ${milliseconds('max(ended_at)')} from notification_deliveries where incident_id = incident.id) as notified
       from incidents incident where created_at >= $1`,
    [begin!.now],
  );
}

function timesOf(ends: Awaited<ReturnType<typeof endsDuring>>): ByStage<Times> {
  return byStage((stage) => {
    const times = ends.map((end) => end[stage] - end.created);
    return { p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
  });
}

function byStage<T>(of: (stage: Stage) => T): ByStage<T> {
  return Object.fromEntries(STAGES.map((stage) => [stage, of(stage)])) as ByStage<T>;
}
