import { ActionsRepository, REJECTABLE } from '../../src/actions/actions.repository.js';
import type { Action } from '../../src/actions/action.js';
import {
  type BusyConnectors,
  ClaimRepository,
} from '../../src/actions/execution/claim.repository.js';
import type { Tx } from '../../src/platform/database/transactions.js';
import { type ActionFields, insertAction, rowOf } from '../support/actions/action-table.js';
import { useTestDatabase } from '../support/open-test-database.js';
import { insertIncidents } from './incidents-harness.js';

const LAPSED = -1_000;
const AT = new Date('2026-11-02T09:30:00Z');
const REJECTION = { rejected_by: 'system', rejected_at: AT, rejection_reason: 'Over.' };
const UNKNOWN = { success: false, message: 'Who knows.', code: 'outcome_unknown' } as const;

const NOBODY_BUSY: BusyConnectors = { polled: [], probed: [], acceptedForMs: 0, lapsedForMs: 0 };

/** Every state that matters to who ends, lists or counts actions without having claimed them. */
const STATES = {
  waiting: { status: 'pending_approval' },
  nobodys: { phase: null },
  nobodysSent: { phase: null, sent: true },
  nobodysLapsed: { phase: null, leaseMs: LAPSED },
  claimed: { phase: 'claimed' },
  claimedLapsed: { phase: 'claimed', leaseMs: LAPSED },
  claimedSent: { phase: 'claimed', sent: true },
  accepted: { phase: 'accepted', sent: true },
  acceptedLapsed: { phase: 'accepted', sent: true, leaseMs: LAPSED },
  completed: { status: 'completed' },
  failed: { status: 'failed' },
} as const satisfies Readonly<Record<string, ActionFields>>;
type State = keyof typeof STATES;
const NAMES = Object.keys(STATES) as State[];

describe('the repositories of actions that nobody has claimed', () => {
  const { dataSource, query, statements, transactions } = useTestDatabase();
  const actions = new ActionsRepository(statements, dataSource);
  const claims = new ClaimRepository(statements, dataSource);

  beforeEach(() => query('truncate actions, action_count_deltas, playbook_run_steps'));

  const insert = (fields: ActionFields) => insertAction(dataSource, fields);
  const row = (id: string) => rowOf(dataSource, id);
  /** One of each state, by its name. */
  const oneOfEach = async (more: ActionFields = {}) => {
    const entries = NAMES.map(async (state) => [
      state,
      await insert({ ...STATES[state], ...more }),
    ]);
    return Object.fromEntries(await Promise.all(entries)) as Record<State, string>;
  };
  const incident = async () => (await insertIncidents(dataSource, 1))[0]!.id;
  /** The states whose action the work changed, which are those that it says it did. */
  const changedBy = async (
    ids: Record<State, string>,
    work: (tx: Tx) => Promise<readonly Action[]>,
  ): Promise<State[]> => {
    const before = await Promise.all(NAMES.map((state) => row(ids[state])));
    const told = (await transactions.run(work)).map(({ id }) => id);
    const after = await Promise.all(NAMES.map((state) => row(ids[state])));
    const changed = NAMES.filter((_, at) => {
      return JSON.stringify(before[at]) !== JSON.stringify(after[at]);
    });
    expect(told.sort()).toEqual(changed.map((state) => ids[state]).sort());
    return changed;
  };

  it('reject the actions of an incident, except what a run has, or may have sent', async () => {
    const ids = await oneOfEach({ incidentId: await incident() });
    const others = await oneOfEach({ incidentId: await incident() });
    const { incident_id } = (await actions.findById(ids.nobodys))!;
    const changed = await changedBy(ids, (tx) =>
      actions.reject(tx, { incident_id, ...REJECTABLE.any }, REJECTION),
    );
    expect(changed).toEqual(['waiting', 'nobodys', 'nobodysLapsed']);
    expect(await row(ids.nobodys)).toMatchObject({ status: 'rejected', lease_until: null });
    expect(await row(ids.claimed)).toMatchObject({ status: 'pending', phase: 'claimed' });
    expect((await row(others.nobodys)).status).toBe('pending');
  });

  /** Applies the work to each action and returns those that it changed. */
  const each = async (ids: Record<State, string>, work: (id: string) => Promise<Action[]>) => {
    const changed: Action[] = [];
    for (const state of NAMES) changed.push(...(await work(ids[state])));
    return changed;
  };

  type Work = (tx: Tx, ids: Record<State, string>) => Promise<readonly Action[]>;
  it.each<[string, State[], Work, object]>([
    [
      'reject what the kill switch holds, except what may have been sent',
      ['nobodys', 'nobodysLapsed'],
      (tx) => actions.reject(tx, REJECTABLE.unclaimed, REJECTION),
      { status: 'rejected', ...REJECTION },
    ],
    [
      'fail what the kill switch holds and may have been sent',
      ['nobodysSent'],
      (tx) => actions.failSent(tx, UNKNOWN, AT),
      { status: 'failed', executed_by: 'system', executed_at: AT, result: UNKNOWN },
    ],
    [
      'reject a single action unless it may have been sent',
      ['nobodys', 'nobodysLapsed'],
      (tx, ids) =>
        each(ids, (id) => actions.reject(tx, { id, ...REJECTABLE.unclaimed }, REJECTION)),
      { status: 'rejected' },
    ],
    [
      'reject an action on a decision while it waits for one',
      ['waiting'],
      (tx, ids) => each(ids, (id) => actions.reject(tx, { id, ...REJECTABLE.waiting }, REJECTION)),
      { status: 'rejected' },
    ],
  ])('%s', async (_, states, work, end) => {
    const ids = await oneOfEach();
    expect(await changedBy(ids, (tx) => work(tx, ids))).toEqual(states);
    expect(await actions.findById(ids[states[0]!])).toMatchObject(end);
  });

  it('reject what has waited for approval too long, the oldest first', async () => {
    const minutes = (n: number) => n * 60_000;
    const young = await oneOfEach({ requestedAgoMs: minutes(9) });
    const oldest = await insert({ ...STATES.waiting, requestedAgoMs: minutes(12) });
    const old = await oneOfEach({ requestedAgoMs: minutes(11) });
    const now = { ...REJECTION, rejected_at: new Date() };
    const expire = (tx: Tx, limit: number) => actions.rejectExpired(tx, 10, now, limit);
    expect((await transactions.run((tx) => expire(tx, 1))).map(({ id }) => id)).toEqual([oldest]);
    await transactions.run(async (tx) => {
      await tx.query('select 1 from actions where id = $1 for update', [old.waiting]);
      // Somebody is just deciding on it.
      expect(await transactions.run((other) => expire(other, 9))).toEqual([]);
    });
    expect(await changedBy(old, (tx) => expire(tx, 9))).toEqual(['waiting']);
    expect((await row(young.waiting)).status).toBe('pending_approval');
  });

  it('send no update when no action has waited too long', async () => {
    await transactions.run(async (tx) => {
      const statements = jest.spyOn(tx.queryRunner!, 'query');
      expect(await actions.rejectExpired(tx, 10, REJECTION, 9)).toEqual([]);
      expect(statements).toHaveBeenCalledTimes(1);
    });
  });

  it('find actions that nobody began in time, the one that has waited longest first', async () => {
    const ids = await oneOfEach();
    const older = await insert({ phase: null, leaseMs: LAPSED * 2 });
    const another = await insert({ phase: null, leaseMs: LAPSED * 3, type: 'lookup_ip' });
    const none = { ids: [], types: [] };
    const found = async (limit: number, except = {}) =>
      (await claims.unclaimed(limit, { ...none, ...except })).map(({ id }) => id);
    expect(await found(9)).toEqual([another, older, ids.nobodysLapsed]);
    expect(await found(2)).toEqual([another, older]);
    expect(await found(9, { ids: [older] })).toEqual([another, ids.nobodysLapsed]);
    expect(await found(9, { types: ['lookup_ip'] })).toEqual([older, ids.nobodysLapsed]);
    const rollback = await insert({ phase: null, leaseMs: LAPSED, rollbackOf: ids.completed });
    expect(await found(9, { types: ['lookup_ip', 'block_ip'] })).toEqual([rollback]);
  });

  it('find claims that have lapsed, the one that lapsed first first', async () => {
    const ids = await oneOfEach();
    const older = await insert({ phase: 'claimed', leaseMs: LAPSED * 2 });
    const found = (await claims.lapsed(9, NOBODY_BUSY)).map(({ id }) => id);
    expect(found[0]).toBe(older);
    expect(found.sort()).toEqual([older, ids.claimedLapsed, ids.acceptedLapsed].sort());
    expect(await claims.lapsed(1, NOBODY_BUSY)).toHaveLength(1);
  });

  it('leave out what waits for a busy connector, unless it has waited too long or needs no question', async () => {
    const HOUR_MS = 3_600_000;
    const at = (connectorId: string, fields: ActionFields) => insert({ connectorId, ...fields });
    const sent = { phase: 'claimed', sent: true, leaseMs: LAPSED } as const;
    const accepted = { phase: 'accepted', sent: true, leaseMs: LAPSED, acceptedAgoMs: 0 } as const;
    const rows = {
      polled: await at('full', accepted),
      polledTooLong: await at('full', { ...accepted, acceptedAgoMs: HOUR_MS }),
      polledElsewhere: await at('free', accepted),
      probed: await at('full', sent),
      probedTooLong: await at('full', { ...sent, leaseMs: -HOUR_MS }),
      probedElsewhere: await at('free', sent),
      notSent: await at('full', { ...sent, sent: false }),
      // It cannot tell what became of a call, so there is nothing to wait for.
      sentToMute: await at('mute', sent),
      polledAtMute: await at('mute', accepted),
    };
    const bounds = { acceptedForMs: HOUR_MS / 2, lapsedForMs: HOUR_MS / 2 };
    const busy = { polled: ['full', 'mute'], probed: ['full'], ...bounds };
    const found = (await claims.lapsed(20, busy)).map(({ id }) => id);
    const names = Object.entries(rows).filter(([, id]) => found.includes(id));
    expect(names.map(([name]) => name)).toEqual([
      'polledTooLong',
      'polledElsewhere',
      'probedTooLong',
      'probedElsewhere',
      'notSent',
      'sentToMute',
    ]);
  });

  it('count what is unclaimed, and claims whose lease holds as under way', async () => {
    await oneOfEach();
    expect(await actions.countUnclaimed()).toBe(3);
    expect(await actions.countUnderWay()).toBe(3);
  });

  it('lock an action against every change until the transaction ends', async () => {
    const id = await insert(STATES.waiting);
    await transactions.run(async (tx) => {
      expect(await actions.lockById(tx, id)).toMatchObject({ id, status: 'pending_approval' });
      const other = transactions.run((another) =>
        another.query('select 1 from actions where id = $1 for no key update nowait', [id]),
      );
      await expect(other).rejects.toThrow('could not obtain lock');
    });
  });
});
