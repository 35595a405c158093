import { RunsRepository } from '../../src/playbooks/runs/runs.repository.js';
import { newId } from '../../src/platform/ids.js';
import { eventually } from '../support/jobs/eventually.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('a cancellation of several playbook runs', () => {
  const { dataSource, query, statements, transactions } = useTestDatabase();

  it('locks the runs in the order of their ids, like the batches that continue runs', async () => {
    const playbook = newId();
    const [first, second] = [newId(1), newId(2)];
    await query(
      `insert into playbooks (id, name, enabled, auto_run, definition, created_by, updated_by)
       values ($1, 'p', true, true, '{}', 'a', 'a')`,
      [playbook],
    );
    await query(
      `insert into playbook_versions (playbook_id, version, name, definition, changed_by) values ($1, 1, 'p', '{}', 'a')`,
      [playbook],
    );
    // The rows are inserted in the opposite order of their ids.
    for (const id of [second, first]) {
      await query(
        `insert into playbook_runs (id, playbook_id, playbook_version, playbook_name, status, requested_by, variables,
           steps_total, started_at) values ($1, $2, 1, 'p', 'running', 'a', '{}', 1, now())`,
        [id, playbook],
      );
      await query(
        `insert into work (kind, ref, lane, urgency, ready, due_at) values ('playbook-run', $1, 'x', 2, true, now())`,
        [id],
      );
    }
    const runs = new RunsRepository(statements);
    const other = dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query('select from playbook_runs where id = $1 for update', [first]);
    const cancelled = transactions.run((tx) => runs.cancel(tx, 'held', null, 'No.', new Date()));
    await eventually(
      () => query(`select from pg_stat_activity where wait_event_type = 'Lock'`),
      (waiting) => waiting.length === 1,
    );
    await other.query('select from playbook_runs where id = $1 for update nowait', [second]);
    await other.commitTransaction();
    await other.release();
    expect((await cancelled).map(({ id }) => id).toSorted()).toEqual([first, second]);
  });
});
