import { RunsRepository } from '../../src/playbooks/runs/runs.repository.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';
import { insertIncidents } from './incidents-harness.js';

const WAITING = 5_000;
const LIMIT = 5;

describe('the turns of automatic runs', () => {
  const { dataSource, query, statements, transactions } = useTestDatabase();

  it('are assigned during a flood without reading the waiting runs', async () => {
    const playbook = newId();
    await query(
      `insert into playbooks (id, name, enabled, auto_run, definition, created_by, updated_by)
       values ($1, 'p', true, true, '{}', 'a', 'a')`,
      [playbook],
    );
    await query(
      `insert into playbook_versions (playbook_id, version, name, definition, changed_by) values ($1, 1, 'p', '{}', 'a')`,
      [playbook],
    );
    const ids = (await insertIncidents(dataSource, WAITING + 1)).map(({ id }) => id);
    await query(`update incidents set severity = 'medium'`);
    const added = ids.at(-1)!;
    await query(
      `insert into playbook_runs (id, playbook_id, playbook_version, playbook_name, incident_id, status, requested_by,
                                  automatic, variables, steps_total, started_at, starts_at)
       select id, $1, 1, 'p', id, 'running', 'a', true, '{}', 1, now(),
              case when id <> $3 then now() + n / $4 * interval '1 hour' + interval '1 minute' end
         from unnest($2::uuid[]) with ordinality as run (id, n)`,
      [playbook, ids, added, LIMIT],
    );
    await query('analyze playbook_runs, incidents');
    const runs = new RunsRepository(statements);
    await transactions.run(async (tx) => {
      const rowsRead = async (): Promise<number> => {
        const [row] = await tx.query<{ n: string }[]>(
          `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as n from pg_stat_xact_user_tables
            where relname in ('playbook_runs', 'incidents')`,
        );
        return Number(row!.n);
      };
      const before = await rowsRead();
      const turns = await runs.giveTurns(tx, playbook, LIMIT, [added], new Date());
      expect(turns.map(({ id }) => id)).toEqual([added]);
      expect((await rowsRead()) - before).toBeLessThan(100);
      const [last] = await tx.query<{ at: Date }[]>(
        'select max(starts_at) as at from playbook_runs where id <> $1',
        [added],
      );
      expect(turns[0]!.starts_at!.getTime()).toBeGreaterThanOrEqual(last!.at.getTime());
    });
  });
});
