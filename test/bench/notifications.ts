/* What notifications cost those who cause them: the same requests to a service without channels, to one whose channels all
 * hang, and to one whose channels all work, in turns. A channel that hangs takes the connection and the event, and never answers.
 *
 *   node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON test/bench/notifications.ts      (after a build)
 *
 *   BENCH_DATABASE_URL  a PostgreSQL whose user may create databases; without it an embedded one is started
 *   BENCH_SECONDS (5), BENCH_ROUNDS (3), BENCH_CHANNELS (5), BENCH_DIST (dist)
 */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { atEnd, cleanUp, cleanUpOnSignals } from './lib/cleanup.ts';
import { type Load, load, type Shot } from './lib/load.ts';
import { startPostgres } from './lib/postgres.ts';
import { startService, type Target } from './lib/processes.ts';

const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const dist = resolve(process.env['BENCH_DIST'] ?? 'dist');
const SECONDS = number('BENCH_SECONDS', 5);
const ROUNDS = number('BENCH_ROUNDS', 3);
const CHANNELS = number('BENCH_CHANNELS', 5);
const SWITCHES = 3;

const KINDS = ['none', 'hanging', 'working'] as const;
type Kind = (typeof KINDS)[number];

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const INCIDENT = {
  incident_type: 'phishing',
  severity: 'high',
  source: 'email-gateway',
  raw_data: { sender: 'ceo@examp1e.com', subject: 'Urgent wire transfer' },
};

async function ask(target: Target, path: string, body: object): Promise<{ id: string }> {
  const answer = await fetch(`${target.url}${path}`, {
    method: 'POST',
    headers: { ...target.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { data: { id: string } }).data;
}

async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function main(): Promise<void> {
  print(`${cpus().length} processors; load at the start: ${loadavg()[0]!.toFixed(2)}`);
  const server = await startPostgres(dist);
  const urls: Record<Exclude<Kind, 'none'>, string> = {
    hanging: await receiver((request) => void request.resume()),
    working: await receiver((request, response) => {
      request.resume().on('end', () => response.writeHead(204).end());
    }),
  };
  const settings = { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' };
  const targets = new Map<Kind, Target>();
  const shots = new Map<Kind, readonly Shot[]>();
  for (const kind of KINDS) {
    const database = await server.createDatabase(`its_bench_notify_${kind}`);
    const target = await startService(dist, database, settings);
    targets.set(kind, target);
    await ask(target, '/api/connectors', { name: 'sandbox', type: 'sandbox', config: {} });
    const incident = await ask(target, '/api/incidents', INCIDENT);
    const look = { action: 'lookup_ip', parameters: { ip: '203.0.113.9' } };
    shots.set(kind, [
      {
        what: 'create an incident',
        method: 'POST',
        paths: ['/api/incidents'],
        body: JSON.stringify(INCIDENT),
        clients: 8,
      },
      {
        what: 'run an action',
        method: 'POST',
        paths: [`/api/incidents/${incident.id}/actions`],
        body: JSON.stringify(look),
        clients: 4,
      },
    ]);
    for (let n = 0; kind !== 'none' && n < CHANNELS; n += 1) {
      const config = { url: urls[kind] };
      await ask(target, '/api/notification-channels', {
        name: `hook ${n}`,
        type: 'webhook',
        config,
      });
    }
  }

  const loads = new Map<string, Load[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const at of [0, 1]) {
      for (const kind of KINDS) {
        const shot = shots.get(kind)![at]!;
        const measured = await load(targets.get(kind)!, shot, SECONDS);
        const name = `${shot.what}, channels: ${kind}`;
        loads.set(name, [...(loads.get(name) ?? []), measured]);
      }
    }
  }
  for (const [name, measured] of loads) {
    const median = (of: (one: Load) => number): string => {
      const ascending = measured.map(of).toSorted((a, b) => a - b);
      return ascending[Math.floor(measured.length / 2)]!.toFixed(0);
    };
    const { perSecond, p50, p99 } = {
      perSecond: median((one) => one.perSecond),
      p50: median((one) => one.p50),
      p99: median((one) => one.p99),
    };
    const service = median(({ processor }) => processor.server ?? 0);
    const postgres = median(({ processor }) => processor.postgres ?? 0);
    print(
      `${name}: ${perSecond} a second; p50 ${p50} ms; p99 ${p99} ms; processor time of the service ${service} µs, of PostgreSQL ${postgres} µs`,
    );
  }
  for (const kind of KINDS) {
    const times: string[] = [];
    for (let n = 0; n < SWITCHES; n += 1) {
      const target = targets.get(kind)!;
      const at = performance.now();
      await ask(target, '/api/kill-switch/activate', { reason: 'A measurement.' });
      times.push((performance.now() - at).toFixed(0));
      await ask(target, '/api/kill-switch/deactivate', { reason: 'A measurement.' });
    }
    print(
      `kill switch, channels: ${kind}: answered after ${times.join(' / ')} ms, of which 1050 is the wait for earlier permits`,
    );
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
