import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, ChaosSite, type Kind, type Reply } from '../support/chaos/chaos-site.js';
import { FULL, say } from '../support/chaos/figures.js';
import { eventually } from '../support/jobs/eventually.js';
import { useStarted } from '../support/use-started.js';

/** Steps of the playbook. Only `block_sender` must not be repeated. */
const PLAYBOOK_KINDS: readonly Kind[] = [
  { type: 'lookup_ip', parameters: {}, behaviours: ['apply'], afterMs: 30, idempotent: true },
  {
    type: 'isolate_host',
    parameters: {},
    behaviours: ['apply'],
    afterMs: 30,
    idempotent: true,
    approved: true,
  },
  { type: 'block_sender', parameters: {}, behaviours: ['apply'], afterMs: 30 },
  {
    type: 'quarantine_email',
    parameters: {},
    behaviours: ['apply'],
    afterMs: 30,
    idempotent: true,
  },
];

const PLAYBOOK = {
  name: 'storm',
  variables: { hosts: ['laptop-7'] },
  steps: [
    { name: 'look', action: 'lookup_ip', parameters: { ip: '203.0.113.9' } },
    {
      name: 'never',
      action: 'block_sender',
      parameters: { sender: 'never@example.net' },
      condition: '!steps.look.result.success',
    },
    {
      name: 'isolate',
      action: 'isolate_host',
      parameters: { host_id: '{{ variables.hosts[0] }}' },
    },
    {
      name: 'block',
      action: 'block_sender',
      parameters: { sender: 'evil@example.net', reason: '{{ steps.isolate.result.message }}' },
      on_error: 'continue',
    },
    {
      name: 'quarantine',
      action: 'quarantine_email',
      parameters: { message_id: '<1@mail.example.net>' },
      condition: 'steps.look.result.success && has(steps.block.result)',
    },
  ],
};

/** Starts runs and approves their actions while replicas are killed. */
class PlaybookStorm {
  started = 0;
  private over = false;

  constructor(
    private readonly site: ChaosSite,
    private readonly key: string,
  ) {}

  async save(): Promise<void> {
    const answer = await this.post('/api/playbooks', PLAYBOOK);
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  }

  /** Starts one run. Repeats the request with the same Idempotency-Key until it gets a response. */
  async start(): Promise<void> {
    const headers = { 'idempotency-key': randomUUID() };
    for (;;) {
      const answer = await this.post('/api/playbooks/storm/run', {}, headers).catch(
        () => undefined,
      );
      // 409 means that an earlier attempt, which got no response, had an effect.
      if (answer && [200, 202, 409].includes(answer.status)) break;
      await sleep(50);
    }
    this.started += 1;
  }

  /** Approves waiting actions repeatedly, each after a random delay. */
  async approveAll(): Promise<void> {
    while (!this.over) {
      const list = '/api/actions?status=pending_approval&per_page=100';
      const waiting = await this.request('GET', list).catch(() => undefined);
      const ids = (waiting?.body?.data ?? []).map(({ id }: { id: string }) => id) as string[];
      await Promise.all(
        ids.map(async (id) => {
          await sleep(Math.random() * 300);
          await this.post(`/api/actions/${id}/approve`, {}).catch(() => undefined);
        }),
      );
      await sleep(50);
    }
  }

  end(): void {
    this.over = true;
  }

  private post(path: string, body: object, headers = {}): Promise<Reply> {
    return this.request('POST', path, body, headers);
  }

  private request(method: string, path: string, body?: object, headers = {}): Promise<Reply> {
    const { places } = this.site;
    const { url } = places[Math.floor(Math.random() * places.length)]!;
    return ask(url, method, path, { key: this.key, body, headers });
  }
}

/** SQL that counts invalid rows, by the kind of the fault. */
const WRONG = `
  with run as (select * from playbook_runs),
       step as (
         select step.*, action.status as action_status, action.result ->> 'code' as code
           from playbook_run_steps step left join actions action on action.id = step.action_id),
       audit as (
         select subject_id::uuid as id, action, count(*) as n from audit_log
          where subject_type = 'playbook_run' group by 1, 2)
  select (select count(*)::int from run where status <> 'completed') as runs_not_completed,
         (select count(*)::int from run where (select count(*) from step where run_id = run.id) <> 5) as runs_without_all_steps,
         (select count(*)::int from run where (
            select count(*) from actions where playbook_run_id = run.id) <> 4) as runs_with_other_actions,
         (select count(*)::int from step where name = 'never' and status <> 'skipped') as steps_not_skipped,
         (select count(*)::int from step
           where name in ('look', 'isolate', 'quarantine') and status <> 'completed') as steps_not_completed,
         (select count(*)::int from step
           where name = 'block' and status <> 'completed'
             and code not in ('outcome_unknown', 'interrupted')) as blocks_failed_without_reason,
         (select count(*)::int from step where action_id is not null and status <> action_status) as steps_unlike_actions,
         (select count(*)::int from step one join step other on other.run_id = one.run_id
           and other.position = one.position + 1 where other.started_at < one.completed_at) as steps_at_once,
         (select count(*)::int from run left join audit on audit.id = run.id and action = 'playbook.run_started'
           where n is distinct from 1) as starts_not_recorded_once,
         (select count(*)::int from run left join audit on audit.id = run.id and action = 'playbook.run_completed'
           where n is distinct from 1) as ends_not_recorded_once`;

interface PlaybookJudgement {
  readonly runs: number;
  readonly wrong: Readonly<Record<string, number>>;
  /** Steps whose effects contradict their result. */
  readonly effects: readonly string[];
}

async function judgePlaybooks({ db, vendor }: ChaosSite): Promise<PlaybookJudgement> {
  const { rows: runs } = await db.query('select from playbook_runs');
  const { rows: steps } = await db.query<{ name: string; status: string; id: string }>(
    `select name, status, 'act-' || action_id as id from playbook_run_steps where action_id is not null`,
  );
  const effects = steps.flatMap(({ name, status, id }) => {
    const n = vendor.effectsOf(id);
    // Other calls may be sent more than once, because the vendor recognises a repetition by its key and ignores it.
    const isRight = name === 'block' ? n <= 1 && (status !== 'completed' || n === 1) : n >= 1;
    return isRight ? [] : [`${name} ${status}: ${n} effects`];
  });
  const wrong = await db.query<Record<string, number>>(WRONG);
  return {
    runs: runs.length,
    wrong: wrong.rows[0]!,
    effects,
  };
}

const RUNS = FULL ? 100 : 6;
const KILLS = FULL ? 40 : 2;
const AT_ONCE = FULL ? 6 : 2;
const LEASE_MS = 1_500;

describe('playbook runs with an approval in the middle, while replicas are killed with SIGKILL', () => {
  const settings = { ACTION_LEASE_MS: String(LEASE_MS), ACTION_WAIT_MS: '500' };
  const site = useStarted(() => ChaosSite.open(PLAYBOOK_KINDS, { settings }));

  const openRuns = async (): Promise<number> => {
    const { rows } = await site.db.query<{ n: number }>(
      `select count(*)::int as n from playbook_runs where completed_at is null`,
    );
    return rows[0]!.n;
  };

  it(
    'end with the same result as without kills, and execute each step once',
    async () => {
      const storm = new PlaybookStorm(site, await site.makeKey('manager'));
      await storm.save();
      const approving = storm.approveAll();
      let kills = 0;
      // Runs are started until enough runs have started and enough replicas have been killed.
      const clients = Array.from({ length: AT_ONCE }, async () => {
        while (storm.started < RUNS || kills < KILLS) {
          await storm.start();
          await sleep(Math.random() * 1_500);
        }
      });
      while (kills < KILLS) {
        await eventually(openRuns, (open) => open > 0);
        await sleep(Math.random() * 400);
        await site.places[kills % 2]!.kill();
        await site.restart(kills % 2);
        kills += 1;
      }
      await Promise.all(clients);
      await eventually(openRuns, (open) => open === 0);
      storm.end();
      await approving;

      const { runs, wrong, effects } = await judgePlaybooks(site);
      say(`${KILLS} kills, ${runs} runs`);
      expect(runs).toBe(storm.started);
      expect(Object.entries(wrong).filter(([, rows]) => rows !== 0)).toEqual([]);
      expect(effects).toEqual([]);
    },
    FULL ? 1_200_000 : 180_000,
  );
});
