import { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../../src/auth/keys/key-format.js';
import { FULL, say, spread } from '../support/chaos/figures.js';
import { type Told, TriageStorm } from '../support/chaos/triage-storm.js';
import { FakeMessagesApi } from '../support/fake-messages-api.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** How many rows there are that must not be, whatever was killed; each by what is wrong with them. */
const WRONG = `
  with run as (select * from triage_runs),
       incident as (select id, verdict from incidents where source = 'storm'),
       told as (
         select incident_id as id, count(*) as n from incident_timeline where event = 'triaged' group by 1),
       audit as (
         select subject_id::uuid as id, action, count(*) as n from audit_log
          where subject_type = 'triage' group by 1, 2)
  select (select count(*)::int from run where status not in ('completed', 'failed')) as runs_without_end,
         (select count(*)::int from (
            select from run where status = 'completed' group by incident_id having count(*) > 1) as twins) as incidents_judged_twice,
         (select count(*)::int from run as one join run as other using (incident_id)
           where one.id < other.id and coalesce(one.completed_at, 'infinity') > other.created_at + interval '2 ms') as runs_at_once,
         (select count(*)::int from run left join told on told.id = incident_id
           where status = 'completed' and n is distinct from 1) as verdicts_not_told_once,
         (select count(*)::int from incident where (verdict is not null)
             <> (id in (select incident_id from run where status = 'completed'))) as verdicts_without_run,
         (select count(*)::int from run left join audit on audit.id = run.id and action = 'triage.' || status
           where n is distinct from 1) as ends_not_recorded_once,
         (select count(*)::int from audit group by action having action = 'triage.requested')
             - (select count(*)::int from run) as requests_without_run`;

interface RunsJudgement {
  /** Runs by how they ended, such as `completed` and `failed: refused`. */
  readonly endings: Readonly<Record<string, number>>;
  /** How often a run lost its replica. */
  readonly lapses: number;
  /** From creation to end, of the runs that lost their replica. */
  readonly interruptedMs: readonly number[];
  readonly wrong: Readonly<Record<string, number>>;
  /** What somebody was told, and is not so. */
  readonly broken: readonly Told[];
}

/** Holds the runs against what must be so of them, and against what was answered. */
async function judgeRuns(db: Pool, told: readonly Told[]): Promise<RunsJudgement> {
  const { rows } = await db.query<{
    id: string;
    ending: string;
    lapses: number;
    ms: number;
    classification: string | null;
  }>(
    `select id, status || coalesce(': ' || (error ->> 'reason'), '') as ending, lapses,
            extract(epoch from completed_at - created_at)::float8 * 1000 as ms,
            verdict ->> 'classification' as classification
       from triage_runs`,
  );
  const endings: Record<string, number> = {};
  for (const { ending } of rows) endings[ending] = (endings[ending] ?? 0) + 1;
  const given = new Map(rows.map(({ id, classification }) => [id, classification]));
  const wrong = await db.query<Record<string, number>>(WRONG);
  return {
    endings,
    lapses: rows.reduce((sum, { lapses }) => sum + lapses, 0),
    interruptedMs: rows.filter(({ lapses }) => lapses > 0).map(({ ms }) => ms),
    wrong: wrong.rows[0]!,
    broken: told.filter(({ triageId, classification }) => given.get(triageId) !== classification),
  };
}

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
