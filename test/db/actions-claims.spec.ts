import type { Action } from '../../src/actions/action.js';
import { ActionEndings, type Ending } from '../../src/actions/execution/claims.js';
import { ClaimRepository, type Fenced } from '../../src/actions/execution/claim.repository.js';
import type { ActionChanged, ActionRecorder } from '../../src/actions/action-records.js';
import type { ChangeRecords } from '../../src/actions/action-rows.js';
import { AUDIT_PARAMETERS } from '../../src/audit/audit-log.js';
import { TIMELINE_PARAMETERS } from '../../src/incidents/timeline/incident-timeline.js';
import type { Tx } from '../../src/platform/database/transactions.js';
import { type ActionFields, insertAction, rowOf } from '../support/actions/action-table.js';
import { useTestDatabase } from '../support/open-test-database.js';

const LEASE_MS = 60_000;
const LAPSED = -1_000;
const FENCE = 3;

const NO_RECORDS: ChangeRecords = {
  audit: Array.from({ length: AUDIT_PARAMETERS }, () => []),
  timeline: Array.from({ length: TIMELINE_PARAMETERS }, () => []),
  events: [],
};

/** How a run ends its action. */
const ending = (run: Fenced, success = true, by = 'system', at = new Date()): Ending => {
  return { action: run as Action, result: { success, message: `By ${by}.` }, by, at };
};

describe('the statements of a run', () => {
  const { dataSource, query, statements, transactions } = useTestDatabase();
  const recorded: ActionChanged[] = [];
  const recorder = {
    recordsOf: () => NO_RECORDS,
    recorded: (_, changes) => void recorded.push(...changes),
  } as Pick<ActionRecorder, 'recordsOf' | 'recorded'>;
  const claims = new ClaimRepository(statements, dataSource);
  const endings = new ActionEndings(statements, recorder as ActionRecorder);

  const insert = (fields: ActionFields) => insertAction(dataSource, { fence: FENCE, ...fields });
  const row = (id: string) => rowOf(dataSource, id);
  const inTx = <T>(work: (tx: Tx) => Promise<T>) => transactions.run(work);
  const leaseLeft = async (id: string) => (await row(id)).lease_until!.getTime() - Date.now();

  /** Each statement, and whether it wrote what it was for. */
  const STATEMENTS: Readonly<Record<string, (run: Fenced) => Promise<boolean>>> = {
    claim: async (run) => {
      const claim = { connectorId: 'next', leaseMs: LEASE_MS };
      return (await inTx((tx) => claims.claim(tx, run, claim))) !== undefined;
    },
    takeOver: async (run) => (await claims.takeOver([run], LEASE_MS)).length === 1,
    requeue: async (run) => (await claims.requeue([run])) === 1,
    defer: async (run) => {
      const before = await row(run.id);
      await claims.defer(run, LEASE_MS);
      return (await row(run.id)).lease_until?.getTime() !== before.lease_until?.getTime();
    },
    noteSending: (run) => claims.noteSending(run),
    renew: (run) => claims.renew(run, LEASE_MS),
    renewIn: (run) => inTx((tx) => claims.renewIn(tx, run, LEASE_MS)),
    accept: async (run) =>
      (await claims.vendorAccepted(run, { ticket: 1 }, LEASE_MS)) !== undefined,
    release: async (run) => (await claims.release(run, true)) !== undefined,
    end: async (run) => (await endings.end(ending(run))) !== undefined,
    endIn: async (run) => (await inTx((tx) => endings.endIn(tx, ending(run)))) !== undefined,
  };

  const nobodys: ActionFields = { phase: null, leaseMs: LAPSED };
  const claimed: ActionFields = { phase: 'claimed' };
  const lapsed: ActionFields = { phase: 'claimed', leaseMs: LAPSED };
  const accepted: ActionFields = { phase: 'accepted', sent: true };
  const acceptedLapsed: ActionFields = { ...accepted, leaseMs: LAPSED };
  const waiting: ActionFields = { status: 'pending_approval' };
  const ended: ActionFields = { status: 'completed' };
  const STATES = { nobodys, claimed, lapsed, accepted, acceptedLapsed, waiting, ended };

  /** In which states each may write; in every other one it must not, whatever the fence. */
  const MAY: Readonly<Record<string, readonly (keyof typeof STATES)[]>> = {
    claim: ['nobodys'],
    takeOver: ['lapsed', 'acceptedLapsed'],
    requeue: ['lapsed'],
    defer: ['nobodys'],
    noteSending: ['claimed', 'lapsed'],
    renew: ['claimed', 'lapsed', 'accepted', 'acceptedLapsed'],
    renewIn: ['claimed', 'lapsed', 'accepted', 'acceptedLapsed'],
    accept: ['claimed', 'lapsed', 'accepted', 'acceptedLapsed'],
    release: ['claimed', 'lapsed', 'accepted', 'acceptedLapsed'],
    end: ['nobodys', 'claimed', 'lapsed', 'accepted', 'acceptedLapsed'],
    endIn: ['nobodys', 'claimed', 'lapsed', 'accepted', 'acceptedLapsed'],
  };
  const CASES = Object.keys(STATEMENTS).flatMap((name) =>
    (Object.keys(STATES) as (keyof typeof STATES)[]).map((state) => {
      const writes = MAY[name]!.includes(state);
      return [name, writes ? 'writes' : 'does not write', state, writes] as const;
    }),
  );

  it.each(CASES)('%s %s when the action is %s', async (name, _, state, writes) => {
    const id = await insert(STATES[state]);
    const other = await insert(STATES[state]);
    const before = await row(id);
    const untouched = await row(other);
    expect(await STATEMENTS[name]!({ id, fence: FENCE })).toBe(writes);
    if (!writes) expect(await row(id)).toEqual(before);
    expect(await row(other)).toEqual(untouched);
  });

  it.each(CASES.filter(([, , , writes]) => writes))(
    '%s, which %s when the action is %s, refuses every run but the present one',
    async (name, _, state) => {
      const id = await insert(STATES[state]);
      const before = await row(id);
      for (const fence of [FENCE - 1, 0, FENCE + 1]) {
        expect(await STATEMENTS[name]!({ id, fence })).toBe(false);
      }
      expect(await row(id)).toEqual(before);
    },
  );

  it('claims under the next fence, for the connector, with a lease', async () => {
    const id = await insert({ ...nobodys, connectorId: 'former' });
    const claim = { connectorId: 'next', leaseMs: LEASE_MS };
    const run = await inTx((tx) => claims.claim(tx, { id, fence: FENCE }, claim));
    expect(run).toMatchObject({ id, phase: 'claimed', fence: FENCE + 1, connector_id: 'next' });
    expect(Math.abs((await leaseLeft(id)) - LEASE_MS)).toBeLessThan(LEASE_MS / 2);
  });

  it('takes over under the next fence what it found, and leaves the phase and what was sent', async () => {
    const one = await insert({ ...lapsed, sent: true });
    const two = await insert(acceptedLapsed);
    const runs = await claims.takeOver(
      [one, two].map((id) => ({ id, fence: FENCE })),
      LEASE_MS,
    );
    expect(runs.map(({ id, phase, fence, sent }) => [id, phase, fence, sent]).sort()).toEqual(
      [
        [one, 'claimed', FENCE + 1, true],
        [two, 'accepted', FENCE + 1, true],
      ].sort(),
    );
    for (const id of [one, two]) expect(await leaseLeft(id)).toBeGreaterThan(LEASE_MS / 2);
  });

  it('lets nobody take over, or put back, what another take-over is just changing', async () => {
    const seen: Fenced = { id: await insert(lapsed), fence: FENCE };
    await inTx(async (tx) => {
      await tx.query(
        `update actions set fence = fence + 1, lease_until = now() + interval '1 minute' where id = $1`,
        [seen.id],
      );
      // At once, and not when the other one has ended: a sweep waits for nobody.
      expect(await claims.takeOver([seen], LEASE_MS)).toEqual([]);
      expect(await claims.requeue([seen])).toBe(0);
    });
    expect(await row(seen.id)).toMatchObject({ fence: FENCE + 1, phase: 'claimed' });
  });

  it('has one winner for each of many that two take over at once', async () => {
    const runs = await Promise.all(
      Array.from({ length: 40 }, async () => ({ id: await insert(lapsed), fence: FENCE })),
    );
    const won: string[] = [];
    // Both wait at the door, and go on together.
    let both: Promise<void[]> | undefined;
    await inTx(async (tx) => {
      await tx.query('lock table actions in share mode');
      const takeOver = async (seen: readonly Fenced[]) => {
        won.push(...(await claims.takeOver(seen, LEASE_MS)).map(({ id }) => id));
      };
      both = Promise.all([takeOver(runs), takeOver([...runs].reverse())]);
      await waitersAtTheDoor(tx, 2);
    });
    await both;
    expect(won.sort()).toEqual(runs.map(({ id }) => id).sort());
    for (const { id } of runs) expect((await row(id)).fence).toBe(FENCE + 1);
  });

  const waitersAtTheDoor = async (tx: Tx, most: number): Promise<void> => {
    for (let waiting = 0; waiting < most;) {
      const [seen] = await tx.query<{ n: number }[]>(
        `select count(*)::integer as n from pg_locks where not granted and relation = 'actions'::regclass`,
      );
      waiting = seen!.n;
    }
  };

  it('puts back what may be done again, under the same fence and without a lease of its own', async () => {
    const id = await insert({ ...lapsed, sent: true });
    const { lease_until } = await row(id);
    expect(await claims.requeue([{ id, fence: FENCE }])).toBe(1);
    expect(await row(id)).toMatchObject({
      status: 'pending',
      phase: null,
      fence: FENCE,
      sent: true,
      lease_until,
    });
  });

  it('renews for as long as it is told, from now on', async () => {
    const id = await insert({ ...claimed, leaseMs: 10 });
    await claims.renew({ id, fence: FENCE }, LEASE_MS);
    expect(Math.abs((await leaseLeft(id)) - LEASE_MS)).toBeLessThan(LEASE_MS / 2);
  });

  it('keeps when the vendor accepted it, whatever it says later', async () => {
    const id = await insert({ ...claimed, sent: true });
    const first = await claims.vendorAccepted({ id, fence: FENCE }, { ticket: 1 }, LEASE_MS);
    expect(first).toMatchObject({ phase: 'accepted', handle: { ticket: 1 } });
    await query(
      `update actions set accepted_at = accepted_at - interval '1 minute' where id = $1`,
      [id],
    );
    const second = await claims.vendorAccepted({ id, fence: FENCE }, { ticket: 2 }, LEASE_MS);
    expect(second!.handle).toEqual({ ticket: 2 });
    expect(second!.accepted_at!.getTime()).toBe(first!.accepted_at!.getTime() - 60_000);
  });

  it.each([
    ['claimed', null, true],
    ['claimed', null, false],
    ['accepted', 'accepted', true],
  ] as const)(
    'releases an action whose phase is %s with the phase %s, and with sent as it is told (%s)',
    async (phase, after, sent) => {
      const id = await insert({ phase, sent: !sent });
      const released = await claims.release({ id, fence: FENCE }, sent);
      expect(released).toMatchObject({ sent, fence: FENCE });
      expect(await row(id)).toMatchObject({ phase: after, sent });
      expect(await leaseLeft(id)).toBeLessThan(LEASE_MS / 2);
    },
  );

  it.each([
    ['completed', true],
    ['failed', false],
  ])('finishes as %s when success is %s, without a claim or a lease', async (status, success) => {
    const id = await insert({ ...claimed, sent: true });
    const at = new Date('2026-11-02T09:30:00Z');
    const end = ending({ id, fence: FENCE }, success, 'bob', at);
    expect(await endings.end(end)).toMatchObject({
      status,
      executed_by: 'bob',
      executed_at: at,
      result: { success, message: 'By bob.' },
    });
    expect(await row(id)).toMatchObject({ status, phase: null, lease_until: null, sent: true });
  });

  it('notes the sending of each of many runs, and not that of an earlier run of the same action', async () => {
    const ids = [await insert(claimed), await insert(claimed), await insert(accepted)];
    const runs = ids.map((id) => ({ id, fence: FENCE }));
    const earlier = { id: ids[0]!, fence: FENCE - 1 };
    const all = [earlier, ...runs, earlier].map((run) => claims.noteSending(run));
    expect(await Promise.all(all)).toEqual([false, true, true, false, false]);
    expect((await row(ids[0]!)).sent).toBe(true);
  });

  it('ends each of many runs with its own result, and records those that it has ended', async () => {
    recorded.length = 0;
    const ids = [await insert(claimed), await insert(accepted), await insert(ended)];
    const end = (index: number, fence: number, by: string) =>
      endings.end(ending({ id: ids[index]!, fence }, index === 0, by));
    const after = await Promise.all([
      end(0, FENCE - 1, 'an earlier run'),
      end(0, FENCE, 'alice'),
      end(1, FENCE, 'bob'),
      end(1, FENCE, 'a twin'),
      end(2, FENCE, 'too late'),
    ]);
    expect(after.map((action) => action && [action.status, action.executed_by])).toEqual([
      undefined,
      ['completed', 'alice'],
      ['failed', 'bob'],
      undefined,
      undefined,
    ]);
    expect(recorded.map(({ change, actor, action: { id } }) => [change, actor, id])).toEqual([
      ['completed', 'alice', ids[0]],
      ['failed', 'bob', ids[1]],
    ]);
  });
});
