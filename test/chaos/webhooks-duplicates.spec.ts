import { Pool } from 'pg';
import { createKey } from '../../src/auth/keys/key-format.js';
import { FULL, percentile, say } from '../support/chaos/figures.js';
import { judgeInbox } from '../support/chaos/inbox-judge.js';
import { deliver, type Delivered, registerStorm } from '../support/chaos/webhook-storm.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const RECEIPTS = FULL ? 99_999 : 3_000;
const EVENTS = (RECEIPTS * 2) / 3;
const SENDERS = 32;

describe('receipts of which a third are repetitions, at two replicas', () => {
  let database: TestDatabase;
  let db: Pool;
  const { key } = createKey();

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Pool({ connectionString: database.url, max: 2 });
  });
  afterAll(async () => {
    await ServiceProcess.endAll();
    await db?.end();
    await database?.drop();
  });

  /** Of the repetitions, half follow at once, when the first one is still under way, and half at any time. */
  const plan = (): number[] => {
    const events = Array.from({ length: EVENTS }, (_, event) => event);
    const at = new Map<number, number[]>();
    for (let event = 0; event < RECEIPTS - EVENTS; event += 1) {
      const after = event % 2 === 0 ? event : Math.floor(Math.random() * EVENTS);
      at.set(after, [...(at.get(after) ?? []), event]);
    }
    return events.flatMap((event) => [event, ...(at.get(event) ?? [])]);
  };

  it(
    'makes exactly one incident of each event, and says of exactly the others that they are repetitions',
    async () => {
      const settings = { DATABASE_URL: database.url, BOOTSTRAP_ADMIN_API_KEY: key };
      const replicas = [
        await ServiceProcess.start({ settings }),
        await ServiceProcess.start({ settings }),
      ] as const;
      await registerStorm(replicas[0].url, key);
      const receipts = plan();
      expect(receipts).toHaveLength(RECEIPTS);
      const delivered: Delivered[] = [];
      const times: number[] = [];
      let next = 0;
      const started = performance.now();
      await Promise.all(
        Array.from({ length: SENDERS }, async () => {
          for (let at = next++; at < RECEIPTS; at = next++) {
            const { url } = replicas[at % 2 === 0 ? 0 : 1];
            const sent = performance.now();
            delivered.push(await deliver(`alert-${receipts[at]}`, () => url));
            times.push(performance.now() - sent);
          }
        }),
      );
      const seconds = (performance.now() - started) / 1_000;
      const { incidents, wrong, broken } = await judgeInbox(db, delivered, 60_000);
      const repeated = delivered.filter(({ answer }) => answer.duplicate).length;
      times.sort((one, other) => one - other);
      say(
        `${RECEIPTS} receipts in ${seconds.toFixed(1)} s: ${incidents} incidents, ${repeated} repetitions; ` +
          `p50 ${percentile(times, 0.5)} ms, p99 ${percentile(times, 0.99)} ms`,
      );
      expect(broken).toEqual([]);
      expect(Object.entries(wrong).filter(([, rows]) => rows > 0)).toEqual([]);
      expect({ incidents, repeated }).toEqual({ incidents: EVENTS, repeated: RECEIPTS - EVENTS });
      const { rows } = await db.query(`select count(*)::int as n from webhook_events`);
      expect(rows).toEqual([{ n: RECEIPTS }]);
    },
    FULL ? 900_000 : 180_000,
  );
});
