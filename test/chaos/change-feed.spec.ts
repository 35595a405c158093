import { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../../src/auth/credentials.js';
import { ask } from '../support/chaos/chaos-site.js';
import { FULL, say } from '../support/chaos/figures.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';
import { SENDER_SECRET, signed } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const RUN_MS = FULL ? 180_000 : 12_000;
const KILL_EVERY_MS = 4_000;
const BATCH = 600;
const PATH = '/api/incidents/changes';
const SEVERITIES = ['low', 'medium', 'high', 'critical'];

interface Change {
  readonly event: string;
  readonly change_id?: string;
  readonly incident_id: string;
  readonly incident?: { readonly updated_at: string; readonly severity: string };
}

describe('the feed of incidents, with 8 writers and two killed replicas', () => {
  afterAll(() => ServiceProcess.endAll());
  const database = useStarted(() => createTestDatabase());
  const db = useStarted(() => new Pool({ connectionString: database.url, max: 2 }));
  const replicas: ServiceProcess[] = [];
  const { key } = createKey();

  beforeAll(async () => {
    db.on('error', () => undefined);
    for (const place of [0, 1]) await start(place);
    const mapping = { items: '/alerts', title: '/name', severity: '/level', event_id: '/id' };
    const body = { source: 'batches', secret: SENDER_SECRET, format: 'mapping', mapping };
    await ask(urlOf(0), 'POST', '/api/webhooks', { key, body });
  });

  const start = async (place: number): Promise<void> => {
    const settings = { DATABASE_URL: database.url, BOOTSTRAP_ADMIN_API_KEY: key };
    replicas[place] = await ServiceProcess.start({ settings });
  };
  const urlOf = (place: number): string => replicas[place % 2]!.url;
  /** Uses the other replica if the first does not respond, like a load balancer. */
  const get = async (place: number, path: string): Promise<Record<string, never>> => {
    for (let attempt = place; ; attempt += 1) {
      try {
        const { status, body } = await ask(urlOf(attempt), 'GET', path, { key });
        if (status === 200) return body;
        if (status < 500) throw new TypeError(JSON.stringify(body));
      } catch (error) {
        if (error instanceof TypeError && error.message.startsWith('{')) throw error;
      }
      await sleep(50);
    }
  };

  /** Waits, because a request may still be in progress after its writer gave up. */
  const quiet = async (): Promise<void> => {
    for (let before = '', calm = 0; calm < 3;) {
      const { rows } = await db.query<{ n: string }>('select count(*) as n from audit_log');
      calm = rows[0]!.n === before ? calm + 1 : 0;
      before = rows[0]!.n;
      await sleep(500);
    }
  };

  it(
    'delivers every change to every reader, so that each reader has an exact copy of all incidents',
    async () => {
      let areWriting = true;
      let isOver = false;
      const created: string[] = [];
      const send = async (place: number, method: string, path: string, body: object) =>
        await ask(urlOf(place), method, path, { key, body }).catch(() => undefined);

      const creating = async (writer: number): Promise<void> => {
        while (areWriting) {
          const body = { incident_type: 'malware', source: `writer-${writer}`, severity: 'low' };
          const answer = await send(writer, 'POST', '/api/incidents', body);
          if (answer?.status === 201) created.push(answer.body.data.id as string);
          else await sleep(100);
        }
      };
      const changing = async (writer: number): Promise<void> => {
        for (let turn = 0; areWriting; turn += 1) {
          const id = created[Math.floor(Math.random() * created.length)];
          const severity = SEVERITIES[turn % SEVERITIES.length];
          if (id) await send(writer, 'PUT', `/api/incidents/${id}`, { severity });
          else await sleep(50);
        }
      };
      const batching = async (writer: number): Promise<void> => {
        for (let turn = 0; areWriting; turn += 1) {
          const alerts = Array.from({ length: BATCH }, (_, n) => {
            return { id: `${writer}-${turn}-${n}`, name: `alert ${n}`, level: 'low' };
          });
          const body = JSON.stringify({ alerts });
          const headers = {
            'content-type': 'application/json',
            ...signed({ body, source: 'batches' }),
          };
          const url = `${urlOf(writer)}/api/webhooks/batches`;
          await fetch(url, { method: 'POST', headers, body }).catch(() => sleep(100));
          await sleep(2_000);
        }
      };

      /** Reads the feed. Each request continues with the cursor of the previous response. */
      const follow = async (place: number, from: string, limit: number): Promise<Change[]> => {
        const seen: Change[] = [];
        let at = `from=${from}`;
        for (;;) {
          const wasOver = isOver;
          const { data } = (await get(place, `${PATH}?limit=${limit}&wait=1&${at}`)) as never as {
            data: { changes: Change[]; cursor: string; has_more: boolean };
          };
          seen.push(...data.changes);
          at = `cursor=${data.cursor}`;
          if (wasOver && !data.has_more && data.changes.length === 0) return seen;
        }
      };
      const readers = [
        follow(0, 'beginning', 100),
        follow(1, 'beginning', 17),
        follow(0, 'now', 33),
      ];
      await sleep(500);
      const writers = [
        ...[0, 1, 2].map(creating),
        ...[3, 4, 5].map(changing),
        ...[6, 7].map(batching),
      ];
      const end = Date.now() + RUN_MS;
      let kills = 0;
      while (Date.now() < end) {
        await sleep(KILL_EVERY_MS);
        await replicas[kills % 2]!.kill();
        await start(kills % 2);
        kills += 1;
      }
      areWriting = false;
      await Promise.all(writers);
      await quiet();
      isOver = true;
      const seenBy = await Promise.all(readers);

      const { rows: recorded } = await db.query<{ id: string }>(
        `select id from audit_log where action in ('incident.created', 'incident.updated', 'incident.deleted')`,
      );
      const { rows: stored } = await db.query<{ id: string; updated_at: Date; severity: string }>(
        `select id, updated_at, severity from incidents`,
      );
      say(`${kills} kills, ${recorded.length} changes, ${stored.length} incidents`);
      expect(stored.length).toBeGreaterThan(BATCH);
      for (const seen of seenBy) {
        const ids = new Set(seen.map(({ change_id }) => change_id));
        expect(recorded.filter(({ id }) => !ids.has(id))).toEqual([]);
        expect(ids.size).toBe(seen.filter(({ change_id }) => change_id).length);
        const copy = new Map(seen.map((change) => [change.incident_id, change.incident]));
        const wrong = stored.filter(({ id, updated_at, severity }) => {
          const kept = copy.get(id);
          return kept?.severity !== severity || kept.updated_at !== updated_at.toISOString();
        });
        expect(wrong).toEqual([]);
      }
    },
    RUN_MS + 120_000,
  );
});
