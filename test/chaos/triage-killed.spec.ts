import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createKey } from '../../src/auth/credentials.js';
import { ask } from '../support/chaos/chaos-site.js';
import { FULL, say } from '../support/chaos/figures.js';
import { failure, type FakeAnswer, refusal, verdict } from '../support/fake-messages-answers.js';
import { FakeMessagesApi, type SeenMessagesRequest } from '../support/fake-messages-api.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';
import { useStarted } from '../support/use-started.js';

const LATE = { ...verdict(), afterMs: 400 };
/** Each plan has two responses of the provider: to the first request about an incident, and to later requests. */
const PLANS: readonly (readonly [FakeAnswer, FakeAnswer])[] = [
  [verdict(), verdict()],
  [{ kind: 'hang' }, LATE],
  [LATE, verdict()],
  [failure(529, 'overloaded_error'), LATE],
  [refusal('cyber'), refusal('cyber')],
  [{ kind: 'cut' }, verdict()],
];
const REFUSED = 4;

const REST_MS = 100;
const PATIENCE_MS = 120_000;

/** Verdict that a caller has received. */
interface Told {
  readonly incidentId: string;
  readonly triageId: string;
  readonly classification: string;
}

/**
 * Provider that hangs, fails, refuses or responds, depending on the incident, with a caller who requests a verdict for
 * each incident.
 */
class TriageStorm {
  readonly told: Told[] = [];
  incidents = 0;
  /** Number of incidents without a verdict, because the provider refused. */
  refused = 0;
  private readonly times = new Map<number, number>();
  private readonly open = new Map<number, number>();

  constructor(
    api: FakeMessagesApi,
    private readonly db: Pool,
    private readonly key: string,
    /** Returns the URL of the next replica in turn. */
    private readonly url: () => string,
  ) {
    api.whenAsked = (request) => {
      const about = incidentOf(request);
      this.count(this.open, about, 1);
      const [first, later] = PLANS[about % PLANS.length]!;
      api.script(this.count(this.times, about, 1) === 1 ? first : later);
    };
    api.whenOver = (request) => this.count(this.open, incidentOf(request), -1);
  }

  /** Number of requests that the provider has not answered yet. */
  get underWay(): number {
    return [...this.open.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Creates an incident, and waits until it has a verdict or a refusal. Every second request is asynchronous. */
  async one(): Promise<void> {
    const number = this.incidents;
    this.incidents += 1;
    const incidentId = await this.create(number);
    const headers: Record<string, string> = number % 2 ? { prefer: 'respond-async' } : {};
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(REST_MS)) {
      const answer = await this.asked(`/api/incidents/${incidentId}/triage`, { headers });
      if (answer?.status === 200) {
        const { triage_id: triageId, verdict: given } = answer.body.data;
        this.told.push({ incidentId, triageId, classification: given.classification });
        return;
      }
      // 409 means that an earlier request got no response, but its run continues.
      if (answer?.status === 202 || answer?.status === 409) await this.ended(incidentId, end);
      else if (answer && answer.status !== 503) throw new Error(JSON.stringify(answer));
      if (answer && number % PLANS.length === REFUSED) {
        this.refused += 1;
        return;
      }
    }
    throw new Error(`There is no verdict for incident ${number} (${incidentId}).`);
  }

  /** Repeats the request with the same Idempotency-Key, so that it has only one effect even if a response is lost. */
  private async create(number: number): Promise<string> {
    const rawData = { subject: 'Invoice', from: 'billing@example.net', note: `storm-${number}-` };
    const body = { incident_type: 'phishing', source: 'storm', raw_data: rawData };
    for (;;) {
      const headers = { 'idempotency-key': `storm-${number}` };
      const answer = await this.asked('/api/incidents', { headers, body });
      if (answer?.status === 201) return answer.body.data.id as string;
      await sleep(REST_MS);
    }
  }

  /** Returns `undefined` if the replica was killed before the response was complete. */
  private asked(path: string, more: { headers: Record<string, string>; body?: unknown }) {
    return ask(this.url(), 'POST', path, { key: this.key, ...more }).catch(() => undefined);
  }

  private async ended(incidentId: string, end: number): Promise<void> {
    while (Date.now() < end) {
      const { rowCount } = await this.db.query(
        `select from triage_runs where incident_id = $1 and completed_at is null`,
        [incidentId],
      );
      if (rowCount === 0) return;
      await sleep(REST_MS);
    }
  }

  private count(counts: Map<number, number>, about: number, by: number): number {
    const count = (counts.get(about) ?? 0) + by;
    counts.set(about, count);
    return count;
  }
}

function incidentOf({ text }: SeenMessagesRequest): number {
  return Number(/storm-(\d+)-/.exec(text)?.[1]);
}

/** SQL that counts invalid rows, by the kind of the fault. */
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
         (select count(*)::int from work where kind = 'triage') as work_left,
         (select count(*)::int from run left join audit on audit.id = run.id and action = 'triage.' || status
           where n is distinct from 1) as ends_not_recorded_once,
         (select count(*)::int from audit group by action having action = 'triage.requested')
             - (select count(*)::int from run) as requests_without_run`;

interface RunsJudgement {
  /** Number of runs by the way in which they ended, such as `completed` and `failed: refused`. */
  readonly endings: Readonly<Record<string, number>>;
  /** Number of runs whose replica was killed during an attempt. */
  readonly lapsed: number;
  readonly wrong: Readonly<Record<string, number>>;
  /** Responses to callers that the database contradicts. */
  readonly broken: readonly Told[];
}

/** Checks the runs against their rules and against the responses. */
async function judgeRuns(db: Pool, told: readonly Told[]): Promise<RunsJudgement> {
  const { rows } = await db.query<{
    id: string;
    ending: string;
    is_lapsed: boolean;
    classification: string | null;
  }>(
    `select id, status || coalesce(': ' || (error ->> 'reason'), '') as ending,
            array_to_string(notes, ' ') like '%ended in the middle%' as is_lapsed,
            verdict ->> 'classification' as classification
       from triage_runs`,
  );
  const endings: Record<string, number> = {};
  for (const { ending } of rows) endings[ending] = (endings[ending] ?? 0) + 1;
  const given = new Map(rows.map(({ id, classification }) => [id, classification]));
  const wrong = await db.query<Record<string, number>>(WRONG);
  return {
    endings,
    lapsed: rows.filter(({ is_lapsed }) => is_lapsed).length,
    wrong: wrong.rows[0]!,
    broken: told.filter(({ triageId, classification }) => given.get(triageId) !== classification),
  };
}

const KILLS = FULL ? 40 : 2;
const AT_ONCE = 12;
const UNDER_WAY = 4;

describe('triage runs while replicas are killed with SIGKILL', () => {
  afterAll(() => ServiceProcess.endAll());
  const database = useStarted(() => createTestDatabase());
  const db = useStarted(() => new Pool({ connectionString: database.url, max: 3 }));
  const api = useStarted(() => FakeMessagesApi.start());
  const { key } = createKey();

  const start = () =>
    ServiceProcess.start({
      settings: {
        DATABASE_URL: database.url,
        BOOTSTRAP_ADMIN_API_KEY: key,
        TRIAGE_PROVIDER: 'anthropic',
        ANTHROPIC_API_KEY: api.key,
        ANTHROPIC_BASE_URL: api.url,
        TRIAGE_TIMEOUT_MS: '2000',
        AI_TOKENS_PER_HOUR: '0',
      },
    });

  it(
    'end as completed or failed, one at a time per incident, with one verdict per incident',
    async () => {
      const replicas = await Promise.all([start(), start()]);
      let turn = 0;
      const storm = new TriageStorm(api, db, key, () => replicas[(turn += 1) % 2]!.url);
      let over = false;
      const clients = Array.from({ length: AT_ONCE }, async () => {
        while (!over) await storm.one();
      });
      for (let kill = 0; kill < KILLS; kill += 1) {
        await eventually(() => storm.underWay >= UNDER_WAY);
        await sleep(Math.random() * 300);
        await replicas[kill % 2]!.kill();
        replicas[kill % 2] = await start();
      }
      over = true;
      await Promise.all(clients);

      const { endings, lapsed, wrong, broken } = await judgeRuns(db, storm.told);
      say(`${KILLS} kills, ${storm.incidents} incidents, runs: ${JSON.stringify(endings)}`);
      expect(api.refused).toEqual([]);
      expect(broken).toEqual([]);
      expect(Object.entries(wrong).filter(([, rows]) => rows !== 0)).toEqual([]);
      expect(lapsed).toBeGreaterThan(0);
      expect(endings['completed']).toBe(storm.incidents - storm.refused);
    },
    FULL ? 1_200_000 : 180_000,
  );
});
