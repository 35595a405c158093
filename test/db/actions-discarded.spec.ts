import type { Settings } from '../../src/platform/config/settings.js';
import { Actions } from '../../src/actions/actions.js';
import type { Tx } from '../../src/platform/database/transactions.js';
import { type ActionFields, insertAction, rowOf } from '../support/actions/action-table.js';
import { useTestDatabase } from '../support/open-test-database.js';
import { insertIncidents } from './incidents-harness.js';

const SENT = { sent_to: 'vendor' };

const STATES = {
  waiting: { status: 'pending_approval' },
  held: { work: 'waits' },
  heldSent: { work: 'waits', state: SENT },
  claimed: { work: 'claimed' },
  claimedSent: { work: 'claimed', state: SENT },
  lapsed: { work: 'lapsed' },
  accepted: { work: 'accepted', state: { ...SENT, accepted: { handle: {}, at: 0 } } },
  completed: { status: 'completed' },
  failed: { status: 'failed' },
} as const satisfies Readonly<Record<string, ActionFields>>;
type State = keyof typeof STATES;
const NAMES = Object.keys(STATES) as State[];

describe('the repository of actions', () => {
  const { dataSource, query, statements, transactions } = useTestDatabase();
  const actions = new Actions(statements, { approvalTtlMinutes: 10 } as Settings);

  beforeEach(() => query('truncate work, actions, action_count_deltas, playbook_run_steps'));

  const insert = (fields: ActionFields) => insertAction(dataSource, fields);
  const row = (id: string) => rowOf(dataSource, id);
  /** Inserts one action in each state. Returns their ids by state. */
  const oneOfEach = async (more: ActionFields = {}) => {
    const entries = NAMES.map(async (state) => [
      state,
      await insert({ ...STATES[state], ...more }),
    ]);
    return Object.fromEntries(await Promise.all(entries)) as Record<State, string>;
  };
  const incident = async () => (await insertIncidents(dataSource, 1))[0]!.id;
  /** Returns the states whose actions `work` changed. Expects that `work` returned exactly these actions. */
  const changedBy = async (
    ids: Record<State, string>,
    work: (tx: Tx) => Promise<readonly { readonly id: string }[]>,
  ): Promise<State[]> => {
    const before = await Promise.all(NAMES.map((state) => row(ids[state])));
    const returned = (await transactions.run(work)).map(({ id }) => id);
    const after = await Promise.all(NAMES.map((state) => row(ids[state])));
    const changed = NAMES.filter((_, at) => {
      return JSON.stringify(before[at]) !== JSON.stringify(after[at]);
    });
    expect(returned.sort()).toEqual(changed.map((state) => ids[state]).sort());
    return changed;
  };

  it('withdraws the actions of an incident that have not begun', async () => {
    const incident_id = await incident();
    const ids = await oneOfEach({ incidentId: incident_id });
    const others = await oneOfEach({ incidentId: await incident() });
    expect(await changedBy(ids, (tx) => actions.withdraw(tx, { incident_id }))).toEqual(['held']);
    expect((await row(ids.held)).work).toBeNull();
    expect((await row(others.held)).work).not.toBeNull();
  });

  it('withdraws a single action that has not begun', async () => {
    const ids = await oneOfEach();
    const withdrawn = await changedBy(ids, async (tx) => {
      const all = [];
      for (const state of NAMES) all.push(...(await actions.withdraw(tx, { id: ids[state] })));
      return all;
    });
    expect(withdrawn).toEqual(['held']);
  });

  it('leaves an action to the worker that claims it at the same time', async () => {
    const id = await insert(STATES.held);
    let withdrawn: Promise<readonly object[]> | undefined;
    await transactions.run(async (tx) => {
      await tx.query('update work set worker = gen_random_uuid(), ready = false where ref = $1', [
        id,
      ]);
      withdrawn = transactions.run((other) => actions.withdraw(other, { id }));
      await tx.query('select pg_sleep(0.2)');
    });
    expect(await withdrawn!).toEqual([]);
  });

  it('rejects actions that waited for approval too long, the oldest action first', async () => {
    const minutes = (n: number) => n * 60_000;
    const young = await oneOfEach({ requestedAgoMs: minutes(9) });
    const oldest = await insert({ ...STATES.waiting, requestedAgoMs: minutes(12) });
    const old = await oneOfEach({ requestedAgoMs: minutes(11) });
    const now = { rejected_by: 'system', rejected_at: new Date(), rejection_reason: 'Over.' };
    const expire = (tx: Tx, limit: number) => actions.rejectExpired(tx, now, limit);
    expect((await transactions.run((tx) => expire(tx, 1))).map(({ id }) => id)).toEqual([oldest]);
    await transactions.run(async (tx) => {
      await tx.query('select 1 from actions where id = $1 for update', [old.waiting]);
      // The lock stands for another transaction that decides on the action.
      expect(await transactions.run((other) => expire(other, 9))).toEqual([]);
    });
    expect(await changedBy(old, (tx) => expire(tx, 9))).toEqual(['waiting']);
    expect((await row(young.waiting)).status).toBe('pending_approval');
  });
});
