import { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../../src/auth/keys/key-format.js';
import { FULL, say, spread } from '../support/chaos/figures.js';
import { judgeRuns } from '../support/chaos/triage-judge.js';
import { TriageStorm } from '../support/chaos/triage-storm.js';
import { FakeMessagesApi } from '../support/fake-messages-api.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const KILLS = FULL ? 40 : 2;
const AT_ONCE = 12;
const LEASE_MS = 1_500;
const UNDER_WAY = 4;

describe('triage runs while replicas are killed with SIGKILL', () => {
  let database: TestDatabase;
  let db: Pool;
  let api: FakeMessagesApi;
  const { key } = createKey();

  beforeAll(async () => {
    database = await createTestDatabase();
    db = new Pool({ connectionString: database.url, max: 3 });
    api = await FakeMessagesApi.start();
  });
  afterAll(async () => {
    await ServiceProcess.endAll();
    await api?.stop();
    await db?.end();
    await database?.drop();
  });

  const start = () =>
    ServiceProcess.start({
      settings: {
        DATABASE_URL: database.url,
        BOOTSTRAP_ADMIN_API_KEY: key,
        TRIAGE_PROVIDER: 'anthropic',
        ANTHROPIC_API_KEY: api.key,
        ANTHROPIC_BASE_URL: api.url,
        TRIAGE_TIMEOUT_MS: '2000',
        ACTION_LEASE_MS: String(LEASE_MS),
        AI_TOKENS_PER_HOUR: '0',
      },
    });

  it(
    'end completed or failed, one at a time for an incident, with one verdict for it',
    async () => {
      const started = performance.now();
      const replicas = await Promise.all([start(), start()]);
      let turn = 0;
      const storm = new TriageStorm(api, db, key, () => replicas[(turn += 1) % 2]!.url);
      let over = false;
      const clients = Array.from({ length: AT_ONCE }, async () => {
        while (!over) await storm.one();
      });
      const askedAtKill: number[] = [];
      for (let kill = 0; kill < KILLS; kill += 1) {
        await eventually(
          () => storm.underWay,
          (open) => open >= UNDER_WAY,
        );
        await sleep(Math.random() * 300);
        askedAtKill.push(storm.underWay);
        await replicas[kill % 2]!.kill();
        replicas[kill % 2] = await start();
      }
      over = true;
      await Promise.all(clients);

      const { endings, lapses, interruptedMs, wrong, broken } = await judgeRuns(db, storm.told);
      say(`${KILLS} kills, ${storm.incidents} incidents, runs: ${JSON.stringify(endings)}`);
      say(`  questions under way when a replica was killed: ${askedAtKill.join(' ')}`);
      say(
        `  ${lapses} times a run lost its replica; from creation to end: ${spread(interruptedMs)}`,
      );
      say(
        `  ${api.requests.length} requests at the provider, ${storm.twice} while it was asked the same`,
      );
      say(`  took ${Math.round((performance.now() - started) / 1_000)} s`);
      expect(api.refused).toEqual([]);
      expect(broken).toEqual([]);
      expect(Object.entries(wrong).filter(([, rows]) => rows !== 0)).toEqual([]);
      expect(lapses).toBeGreaterThan(0);
      expect(endings['completed']).toBe(storm.incidents - storm.refused);
    },
    FULL ? 1_200_000 : 180_000,
  );
});
