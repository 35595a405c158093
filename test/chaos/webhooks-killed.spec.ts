import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createKey } from '../../src/auth/credentials.js';
import { ask } from '../support/chaos/chaos-site.js';
import { FULL, say } from '../support/chaos/figures.js';
import { eventually } from '../support/jobs/eventually.js';
import { PrivateServer } from '../support/private-server.js';
import { ServiceProcess } from '../support/service-process.js';
import { SENDER_SECRET, signed } from '../support/webhook-sender.js';

const SOURCE = 'storm';

/** SQL that counts invalid rows, by the kind of the fault. */
const WRONG = `
  with incident as (select id from incidents where source = '${SOURCE}'),
       pair as (
         select event.id as event_id, incident_id
           from webhook_events as event, unnest(incident_ids) as incident_id where status = 'processed'),
       audit as (
         select subject_id::uuid as id, count(*) as n from audit_log
          where action = 'incident.created' and subject_type = 'incident' group by subject_id)
  select (select count(*)::int from incident where id not in (select incident_id from pair)) as incidents_without_event,
         (select count(*)::int from (select from pair group by incident_id having count(*) > 1) as twins) as incidents_of_two_events,
         (select count(*)::int from pair where incident_id not in (select id from incident)) as events_without_incident,
         (select count(*)::int from webhook_events where status in ('queued', 'failed')) as events_not_settled,
         (select count(*)::int from webhook_events where incident_ids = '{}') as events_with_nothing,
         (select count(*)::int from webhook_seen_events where (event_id, incident_id) not in (select event_id, incident_id from pair)) as ids_of_nothing,
         (select count(*)::int from incident left join audit using (id) where n is distinct from 1) as incidents_not_recorded_once`;

interface InboxJudgement {
  readonly incidents: number;
  readonly wrong: Readonly<Record<string, number>>;
  /** Responses that the database contradicts. */
  readonly broken: readonly string[];
}

/** Waits until no body is queued, and compares the database with the responses. */
async function judgeInbox(
  db: Pool,
  delivered: readonly Delivered[],
  patienceMs: number,
): Promise<InboxJudgement> {
  await eventually(
    async () => {
      const { rows } = await db.query<{ n: number }>(
        `select count(*)::int as n from webhook_events where status = 'queued'`,
      );
      return rows[0]!.n;
    },
    (queued) => queued === 0,
    patienceMs,
  );
  const { rows } = await db.query<Record<string, number>>(WRONG);
  const incidentsOf = await incidentsByAlert(db);
  const incidentOfEvent = await incidentByEvent(db);
  const broken = delivered.flatMap(({ alertId, answer }) => {
    const incidents = incidentsOf.get(alertId) ?? [];
    const told = answer.incident_id ?? incidentOfEvent.get(answer.queue_id ?? '');
    if (incidents.length === 1 && incidents[0] === told) return [];
    return [`${alertId}: ${JSON.stringify(answer)}, but incidents ${JSON.stringify(incidents)}`];
  });
  const incidents = [...incidentsOf.values()].flat().length;
  return { incidents, wrong: rows[0]!, broken };
}

async function incidentsByAlert(db: Pool): Promise<Map<string, string[]>> {
  const { rows } = await db.query<{ alert: string; ids: string[] }>(
    `select raw_data -> 'data' ->> 'alert_id' as alert, array_agg(id) as ids
       from incidents where source = $1 group by 1`,
    [SOURCE],
  );
  return new Map(rows.map(({ alert, ids }) => [alert, ids]));
}

async function incidentByEvent(db: Pool): Promise<Map<string, string | undefined>> {
  const { rows } = await db.query<{ id: string; incident_ids: string[] }>(
    'select id, incident_ids from webhook_events',
  );
  return new Map(rows.map(({ id, incident_ids }) => [id, incident_ids[0]]));
}

/** The last response to an event. */
interface Delivered {
  readonly alertId: string;
  readonly answer: {
    readonly status: 'accepted' | 'queued';
    readonly incident_id?: string;
    readonly queue_id?: string;
  };
}

const ANSWER_MS = 20_000;
const REST_MS = 50;

async function registerStorm(url: string, key: string): Promise<void> {
  const body = { source: SOURCE, secret: SENDER_SECRET };
  const answer = await ask(url, 'POST', '/api/webhooks', { key, body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
}

/** Repeats the event until it is accepted. `url` is called for each attempt, because the URL changes. */
async function deliver(alertId: string, url: () => string): Promise<Delivered> {
  const data = { alert_id: alertId, severity: 'high', details: { host: 'ws-1.example.net' } };
  const body = JSON.stringify({ event_type: 'malware', data });
  for (;;) {
    const answer = await fetch(`${url()}/api/webhooks/${SOURCE}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed({ body, source: SOURCE }) },
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    })
      .then(async (got) => ({ status: got.status, text: await got.text() }))
      .catch(() => undefined);
    if (answer?.status === 200 || answer?.status === 202) {
      return { alertId, answer: JSON.parse(answer.text) as Delivered['answer'] };
    }
    if (answer && answer.status < 500) throw new Error(`${answer.status} ${answer.text}`);
    await sleep(REST_MS);
  }
}

const KILLS = FULL ? 20 : 2;
const SENDERS = 32;
/** Lower than the number of senders, so that a worker processes some of the events. */
const SYNC_LIMIT = 16;
/** Number of events before the storm. They are processed synchronously, because no body is queued. */
const CALM = 8;

describe('webhooks while the service and its database are killed with SIGKILL', () => {
  let server: PrivateServer;
  let db: Pool;
  const { key } = createKey();

  beforeAll(async () => {
    // fsync is on, as in production: the service responds only after the write to the disk.
    server = await PrivateServer.start({ fsync: 'on' });
    db = new Pool({ connectionString: server.url, max: 2 });
    db.on('error', () => undefined);
  });
  afterAll(async () => {
    await ServiceProcess.endAll();
    await db?.end();
    await server?.remove();
  });

  const start = () =>
    ServiceProcess.start({
      settings: {
        DATABASE_URL: server.url,
        BOOTSTRAP_ADMIN_API_KEY: key,
        WEBHOOK_SYNC_LIMIT: String(SYNC_LIMIT),
      },
    });

  it(
    'create exactly one incident for each acknowledged request, and no incident without an event',
    async () => {
      let service = await start();
      await registerStorm(service.url, key);
      const delivered: Delivered[] = [];
      let over = false;
      let begun = 0;
      const send = async () =>
        delivered.push(await deliver(`alert-${(begun += 1)}`, () => service.url));
      for (let calm = 0; calm < CALM; calm += 1) await send();
      const senders = Array.from({ length: SENDERS }, async () => {
        while (!over) await send();
      });
      const underWay = async (): Promise<void> => {
        const before = delivered.length;
        await eventually(() => delivered.length > before + 4 * SENDERS);
        await sleep(Math.random() * 1_000);
      };
      /** Kills the service or the database, and waits until senders get responses again. */
      const strike = async (kill: () => Promise<unknown>): Promise<void> => {
        await underWay();
        await kill();
        const before = delivered.length;
        await eventually(() => delivered.length > before + SENDERS);
      };
      for (let kill = 0; kill < KILLS; kill += 1) {
        await strike(async () => {
          await service.kill();
          service = await start();
        });
        await strike(async () => server.crash());
      }
      over = true;
      await Promise.all(senders);

      const { incidents, wrong, broken } = await judgeInbox(db, delivered, 120_000);
      const queued = delivered.filter(({ answer }) => answer.status === 'queued').length;
      say(
        `${KILLS} kills of the service, ${KILLS} of the database: ${delivered.length} events, ${queued} of them queued, ${incidents} incidents`,
      );
      expect(broken).toEqual([]);
      expect(Object.entries(wrong).filter(([, rows]) => rows > 0)).toEqual([]);
      expect(incidents).toBe(delivered.length);
      expect(queued).toBeGreaterThan(0);
      expect(delivered.length - queued).toBeGreaterThanOrEqual(CALM);
      const { body } = await ask(service.url, 'GET', '/api/incidents?per_page=1', { key });
      expect(body.meta.total).toBe(incidents);
    },
    FULL ? 900_000 : 180_000,
  );
});
