import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createKey } from '../../src/auth/credentials.js';
import { ask } from '../support/chaos/chaos-site.js';
import { FULL, say } from '../support/chaos/figures.js';
import { eventually } from '../support/jobs/eventually.js';
import { LoopbackServer } from '../support/loopback-server.js';
import type { ReceivedEvent } from '../support/notifications/webhook-receiver.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';
import { useStarted } from '../support/use-started.js';

interface Arrival extends ReceivedEvent {
  /** True if the receiver responded with success, even if the sender does not know this. */
  readonly taken: boolean;
}

/** Accepts most events and fails the others with an error, a missing response or a slow response. */
class StormReceiver extends LoopbackServer {
  readonly arrivals: Arrival[] = [];

  get hook(): string {
    return `${this.url}/hook`;
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chance = Math.random();
    const body = await text(request);
    const taken = chance > 0.05;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    this.arrivals.push({ ...(JSON.parse(body) as ReceivedEvent), taken });
    if (!taken) response.writeHead(500).end();
    else if (chance < 0.1) request.socket.destroy();
    else response.writeHead(204).end();
  }
}

/**
 * Returns violations of the order of events. An event of an incident may arrive for the first time only after the
 * previous event was accepted. `expected` contains the ids of the events of each incident in their order.
 */
function overtaken(
  arrivals: readonly Arrival[],
  expected: ReadonlyMap<string, readonly string[]>,
): string[] {
  const wrong: string[] = [];
  for (const [incident, ids] of expected) {
    const firstAt = ids.map((id) => arrivals.findIndex((one) => one.id === id));
    const takenAt = ids.map((id) => arrivals.findIndex((one) => one.id === id && one.taken));
    for (let at = 1; at < ids.length; at += 1) {
      if (firstAt[at]! < takenAt[at - 1]!) wrong.push(`${incident}: event ${at + 1} overtook`);
    }
  }
  return wrong;
}

const EVENTS = FULL ? 1_000 : 200;
const KILLS = FULL ? 12 : 3;
const WRITERS = 6;
const REPLICAS = 2;

interface Row {
  readonly event_id: string;
  readonly type: string;
  readonly incident_id: string;
  readonly status: string;
}

describe('notifications while replicas are killed with SIGKILL', () => {
  afterAll(() => ServiceProcess.endAll());
  const database = useStarted(() => createTestDatabase());
  const db = useStarted(() => new Pool({ connectionString: database.url, max: 2 }));
  const receiver = useStarted(() => new StormReceiver().start());
  const { key } = createKey();
  const replicas: ServiceProcess[] = [];

  const start = (): Promise<ServiceProcess> =>
    ServiceProcess.start({
      settings: {
        DATABASE_URL: database.url,
        BOOTSTRAP_ADMIN_API_KEY: key,
        ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
      },
    });

  /**
   * Creates an incident, resolves it, reopens it and resolves it again. Steps that a killed replica did not execute are
   * missing.
   */
  const life = async (): Promise<void> => {
    const call = (method: string, path: string, body: object) =>
      ask(replicas[Math.floor(Math.random() * REPLICAS)]!.url, method, path, { key, body });
    const incident = { incident_type: 'malware', source: 'storm' };
    const made = await call('POST', '/api/incidents', incident);
    const path = `/api/incidents/${made.body.data.id}`;
    for (const status of ['resolved', 'open', 'resolved']) await call('PUT', path, { status });
  };

  it(
    'arrive at least once for every committed event, with its id and in the order of the events of the incident',
    async () => {
      replicas.push(await start(), await start());
      const channel = {
        name: 'storm',
        type: 'webhook',
        config: { url: receiver.hook },
        events: ['incident.created', 'incident.resolved'],
      };
      const made = await ask(replicas[0]!.url, 'POST', '/api/notification-channels', {
        key,
        body: channel,
      });
      expect(made.status).toBe(201);

      let over = false;
      const count = async () =>
        Number((await db.query('select count(*) as n from notification_deliveries')).rows[0].n);
      const writers = Array.from({ length: WRITERS }, async () => {
        while (!over) await life().catch(() => sleep(50));
      });
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = await count();
        await eventually(count, (n) => n >= Math.min(EVENTS, before + EVENTS / KILLS / 2));
        const place = kill % REPLICAS;
        await replicas[place]!.kill();
        replicas[place] = await start();
      }
      await eventually(count, (n) => n >= EVENTS, 120_000);
      over = true;
      await Promise.all(writers);

      const open = async () =>
        Number(
          (
            await db.query(
              `select count(*) as n from notification_deliveries where status <> 'delivered'`,
            )
          ).rows[0].n,
        );
      await eventually(open, (n) => n === 0, 180_000);

      const { rows } = await db.query<Row>(
        'select event_id, type, incident_id, status from notification_deliveries order by position',
      );
      const arrived = new Set(receiver.arrivals.map(({ id }) => id));
      const taken = new Set(receiver.arrivals.flatMap((one) => (one.taken ? [one.id] : [])));
      say(
        `${KILLS} kills: ${rows.length} events, ${receiver.arrivals.length} attempts arrived, ${receiver.arrivals.length - rows.length} of them repetitions`,
      );
      expect(rows.filter(({ event_id }) => !taken.has(event_id))).toEqual([]);
      expect(arrived.size).toBe(rows.length);

      const happened = await db.query<{ created: number; resolved: number }>(
        `select (select count(*)::int from incidents) as created,
                (select count(*)::int from incident_timeline where event = 'resolved') as resolved`,
      );
      const ofType = (type: string) => rows.filter((row) => row.type === type).length;
      expect({
        created: ofType('incident.created'),
        resolved: ofType('incident.resolved'),
      }).toEqual(happened.rows[0]);

      const expected = new Map<string, string[]>();
      for (const { incident_id, event_id } of rows) {
        expected.set(incident_id, [...(expected.get(incident_id) ?? []), event_id]);
      }
      expect(overtaken(receiver.arrivals, expected)).toEqual([]);
    },
    FULL ? 900_000 : 400_000,
  );
});
