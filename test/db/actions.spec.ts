import { newId } from '../../src/platform/ids.js';
import { sqlStateOf, violatedConstraint } from '../../src/platform/database/sqlstate.js';
import { useTestDatabase } from '../support/open-test-database.js';

interface Row {
  readonly status: string;
  readonly approval_level?: string;
  readonly approved_by?: string;
  readonly rollback_of?: string;
  readonly result?: string;
}

describe('the table of actions', () => {
  const { query } = useTestDatabase();

  const insert = async ({ status, ...more }: Row) => {
    const id = newId();
    const rejected = status === 'rejected';
    await query(
      `insert into actions (id, action_type, parameters, status, requested_by, requested_at, approval_level, approved_by,
                            rollback_of, result, rejected_by, rejected_at, rejection_reason)
       values ($1, 'block_ip', '{"ip":"203.0.113.9"}', $2, 'alice', now(), $3, $4, $5, $6,
               $7, case when $7::text is not null then now() end, $7)`,
      [
        id,
        status,
        more.approval_level,
        more.approved_by,
        more.rollback_of,
        more.result,
        rejected ? 'bob' : null,
      ],
    );
    return id;
  };
  const refusal = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return [sqlStateOf(error), violatedConstraint(error)];
  };
  const change = (id: string, what: string) =>
    query(`update actions set ${what} where id = $1`, [id]);

  it.each([
    `parameters = '{"ip":"198.51.100.1"}'`,
    `parameters = '{"ip": "203.0.113.9"}'`,
    `action_type = 'unblock_ip'`,
    `requested_by = 'mallory'`,
    `requested_at = now() + interval '1 day'`,
    `approval_level = null`,
    `rollback_of = id`,
    `id = gen_random_uuid()`,
  ])('rejects a change of the request: %s', async (what) => {
    const id = await insert({ status: 'pending_approval', approval_level: 'senior' });
    expect(await refusal(change(id, what))).toEqual(['23001', 'tg_actions_as_requested']);
  });

  it('rejects the execution of an unapproved action that needs approval', async () => {
    const id = await insert({ status: 'pending_approval', approval_level: 'senior' });
    const run = change(id, `status = 'pending'`);
    expect(await refusal(run)).toEqual(['23514', 'ck_actions_consent']);
  });

  it('lets only an approval raise the level', async () => {
    const waiting = { status: 'pending_approval', approval_level: 'senior' } as const;
    const approved = `status = 'pending', approved_by = 'bob'`;
    for (const level of [`'analyst'`, 'null']) {
      const lower = change(await insert(waiting), `${approved}, approval_level = ${level}`);
      expect(await refusal(lower)).toEqual(['23001', 'tg_actions_as_requested']);
    }
    const id = await insert(waiting);
    expect(await refusal(change(id, `approval_level = 'manager'`))).toEqual([
      '23001',
      'tg_actions_as_requested',
    ]);
    await change(id, `${approved}, approval_level = 'manager'`);
    const later = change(id, `approval_level = 'senior'`);
    expect(await refusal(later)).toEqual(['23001', 'tg_actions_as_requested']);
  });

  it('rejects a change of the approver, and a second approval', async () => {
    const id = await insert({ status: 'pending', approval_level: 'senior', approved_by: 'bob' });
    expect(await refusal(change(id, `approved_by = 'mallory'`))).toEqual([
      '23001',
      'tg_actions_as_approved',
    ]);
    const again = change(id, `status = 'pending_approval'`);
    expect((await refusal(again))[0]).toMatch(/^23/);
  });

  it('rejects any change of an ended action', async () => {
    for (const status of ['completed', 'failed', 'rejected']) {
      const id = await insert({ status, result: '{"success":true}' });
      const again = change(id, `status = 'pending'`);
      expect(await refusal(again)).toEqual(['23001', 'tg_actions_ended']);
    }
  });

  it('rejects a second rollback, unless the first rollback had no effect', async () => {
    const original = await insert({ status: 'completed', result: '{"success":true}' });
    await insert({ status: 'failed', rollback_of: original, result: '{"success":false}' });
    await insert({ status: 'rejected', rollback_of: original });
    await insert({ status: 'pending', rollback_of: original });
    const second = insert({ status: 'pending', rollback_of: original });
    expect(await refusal(second)).toEqual(['23505', 'uq_actions_rollback_of']);
  });
});
