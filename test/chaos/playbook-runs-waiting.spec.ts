import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { say } from '../support/chaos/figures.js';
import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

const WAITING = 10_000;
const WATCHED_MS = 3_000;

/** Number of rows of runs, steps and their work that the database has read, and number of its commits. */
const WORK = `
  select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 as rows,
         (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits
    from pg_stat_user_tables where relname in ('playbook_runs', 'playbook_run_steps', 'work')`;

/** SQL that copies a waiting run with its action and its steps. */
const COPY = `
  with original as (select * from playbook_runs where id = $1),
       many as (select n, gen_random_uuid() as run, gen_random_uuid() as action from generate_series(1, $2) n),
       runs as (
         insert into playbook_runs (id, playbook_id, playbook_version, playbook_name, status, requested_by, variables,
                                    steps_completed, steps_total, started_at)
         select run, playbook_id, playbook_version, playbook_name, status, requested_by, variables,
                steps_completed, steps_total, started_at from many, original returning id),
       actions as (
         insert into actions (id, action_type, parameters, status, approval_level, requested_by, requested_at,
                              playbook_run_id, on_behalf_of)
         select many.action, action_type, parameters, action.status, approval_level, action.requested_by, requested_at,
                many.run, on_behalf_of
           from many, actions action where action.playbook_run_id = $1 returning id)
  insert into playbook_run_steps (run_id, position, name, status, action_id, started_at)
  select many.run, position, name, step.status, many.action, started_at
    from many, playbook_run_steps step where step.run_id = $1 `;

describe('ten thousand runs that wait for an approval', () => {
  const world = useStarted(() => PlaybookWorld.start({ ACTION_LEASE_MS: '1000' }));

  /** Measures the reads and commits of an idle replica. */
  async function watched() {
    const { database } = world.actions;
    const look = async () => {
      await database.query(`select pg_stat_clear_snapshot()`);
      await sleep(1_100);
      return (await database.query<{ rows: number; commits: number }[]>(WORK))[0]!;
    };
    const before = await look();
    await sleep(WATCHED_MS);
    const after = await look();
    return { rows: after.rows - before.rows, commits: after.commits - before.commits };
  }

  /** Heap in MiB after a garbage collection. */
  const heap = (): number => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return Math.round((process.memoryUsage().heapUsed / 1_048_576) * 10) / 10;
  };

  it('cost no reads and no memory, and continue after their approval', async () => {
    const { database } = world.actions;
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('look', 'lookup_ip'),
    ]);
    const first = await world.ran(playbook);
    await world.until(playbook, first.run_id, 'waiting_approval');
    const idle = { ...(await watched()), heap: heap() };

    await database.query(COPY, [first.run_id, WAITING]);
    await database.query('analyze playbook_runs, playbook_run_steps, actions');
    // PostgreSQL reports the reads of the copy some seconds later, so they appear in only one of the two measurements.
    const [first3s, next3s] = [await watched(), await watched()];
    const full = { ...(first3s.rows < next3s.rows ? first3s : next3s), heap: heap() };

    const [copy] = await database.query<{ id: string }[]>(
      `select action_id as id from playbook_run_steps where run_id <> $1 limit 1`,
      [first.run_id],
    );
    const action = `act-${copy!.id}`;
    expect((await world.approve(action)).body.data).toMatchObject({ status: 'completed' });
    const { playbook_run_id } = (await world.actions.get(action)) as { playbook_run_id?: string };
    await world.until(playbook, playbook_run_id!, 'completed');

    say(`In ${WATCHED_MS / 1_000} s with 1 run that waits: ${JSON.stringify(idle)}`);
    say(`  with ${WAITING} more: ${JSON.stringify(full)}`);
    // Timers also read their rows in the table work, so this number is not 0.
    expect(full.rows).toBeLessThan(WAITING / 10);
    expect(full.commits).toBeLessThan(idle.commits * 2 + 50);
    expect(full.heap).toBeLessThan(idle.heap + 10);
    expect((await world.list(playbook, '?status=waiting_approval')).body.meta.total).toBe(WAITING);
  });
});
