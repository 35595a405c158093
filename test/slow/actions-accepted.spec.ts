import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionCall, Outcome } from '../../src/connectors/connector-type.js';
import type { Gate } from '../../src/platform/net/outbound-request.js';
import { insertAction } from '../support/actions/action-table.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { crashAt, FAILPOINT, revive } from '../support/actions/failpoints.js';
import { TestConnector } from '../support/actions/scripted-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { useStarted } from '../support/use-started.js';

/** Duration of a response, long enough that the work of two replicas can overlap. */
const ANSWER_MS = 50;

/** Connector whose vendor accepts requests and finishes them when the test tells it to. */
class SlowVendor extends TestConnector {
  readonly calls: ActionCall[] = [];
  polls = 0;
  answer: Outcome | 'unreachable' = { kind: 'accepted', message: 'Working on it.', handle: {} };
  present: Outcome | 'unknown' = 'unknown';
  /** True to break the connection after the request has arrived, instead of accepting the request. */
  breaks = false;
  /** True to send no response after the request has arrived, instead of accepting the request. */
  hangs = false;
  /** Maximum number of concurrent polls so far for one call. */
  mostAtOnce = 0;
  private readonly asked = new Map<unknown, number>();

  constructor() {
    super('slow');
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return gate.send<Outcome>(async (departure) => {
      await departure.leave();
      this.calls.push(call);
      if (this.breaks) throw new Error('The connection broke.');
      if (this.hangs) await new Promise(() => undefined);
      return { kind: 'accepted', message: 'Accepted.', handle: { ticket: call.actionId } };
    });
  }

  override async poll(handle: Record<string, unknown>): Promise<Outcome> {
    this.polls += 1;
    await this.takeTime(handle.ticket);
    if (this.answer === 'unreachable') throw new Error('No answer.');
    return this.answer.kind === 'accepted' ? { ...this.answer, handle } : this.answer;
  }

  async probe(): Promise<Outcome | 'unknown'> {
    return this.present;
  }

  private async takeTime(ticket: unknown): Promise<void> {
    const atOnce = (this.asked.get(ticket) ?? 0) + 1;
    this.asked.set(ticket, atOnce);
    this.mostAtOnce = Math.max(this.mostAtOnce, atOnce);
    await sleep(ANSWER_MS);
    this.asked.set(ticket, this.asked.get(ticket)! - 1);
  }
}

const DEADLINE_MS = 600_000;

describe('an action that its vendor has accepted but not finished', () => {
  const settings = { ACTION_LEASE_MS: '60000', ACTION_WAIT_MS: '200' };
  const world = useStarted(() =>
    ActionWorld.start({ ...settings, ACTION_DEADLINE_MS: String(DEADLINE_MS) }, 2),
  );
  let vendor: SlowVendor;

  beforeEach(() => {
    vendor = new SlowVendor();
    for (const app of world.replicas) vendor.serve(app);
  });
  afterEach(() => revive(world.app));

  const begin = async (): Promise<string> => {
    const answer = await world.execute('block_sender');
    expect([answer.status, answer.body.data.status]).toEqual([202, 'pending']);
    return answer.body.data.action_id;
  };
  const beginAndCrash = async (point: number): Promise<string> => {
    const { crashed } = crashAt(world.app, point);
    const id = await begin();
    await crashed;
    return id;
  };
  /** Ends the claim of the action, or its wait for the next poll, and returns the action after its end. */
  const endedOnceDue = async (id: string) => {
    await world.expireLeases();
    return await eventually(
      () => world.get(id),
      ({ status }) => status !== 'pending',
    );
  };
  const acceptedLongAgo = () =>
    world.database.query(
      `update work set state = jsonb_set(state, '{accepted,at}', to_jsonb($1::bigint)) where kind = 'action'`,
      [Date.now() - DEADLINE_MS],
    );
  const done = () => (vendor.answer = { kind: 'done', message: 'Done.' });

  it('is polled until it ends, even while the vendor does not answer and the kill switch is on', async () => {
    const id = await begin();
    vendor.answer = 'unreachable';
    await world.turnOn();
    try {
      await world.expireLeases();
      await eventually(() => vendor.polls > 0);
      expect((await world.get(id)).status).toBe('pending');
      done();
      expect(await endedOnceDue(id)).toMatchObject({
        status: 'completed',
        result: { success: true, message: 'Done.' },
      });
    } finally {
      await world.turnOff();
    }
    expect(vendor.calls).toHaveLength(1);
  });

  it('fails if the vendor finally reports a failure', async () => {
    const id = await begin();
    vendor.answer = { kind: 'refused', message: 'The host is offline.' };
    expect(await endedOnceDue(id)).toMatchObject({ status: 'failed', result: { code: 'refused' } });
  });

  it('is taken over from a killed replica', async () => {
    const id = await beginAndCrash(FAILPOINT.vendorAccepted);
    done();
    expect(await endedOnceDue(id)).toMatchObject({ status: 'completed' });
    expect(vendor.calls).toHaveLength(1);
  });

  const ANSWERS = [
    ['it is done', { kind: 'done', message: 'It is blocked.' } as const, 'completed'],
    ['it does not know', 'unknown' as const, 'failed'],
  ] as const;

  it.each(ANSWERS)(
    'is queried at the vendor after a crash of the calling replica, and the vendor reports %s',
    async (...row) => {
      const [, present, status] = row;
      vendor.present = present;
      const action = await endedOnceDue(await beginAndCrash(FAILPOINT.answered));
      const code = status === 'failed' ? 'outcome_unknown' : undefined;
      expect([action.status, action.result!.code]).toEqual([status, code]);
      expect(vendor.calls).toHaveLength(1);
    },
  );

  it.each(ANSWERS)(
    'is queried at the vendor after an aborted call, and the vendor reports %s',
    async (...row) => {
      const [, present, status] = row;
      Object.assign(vendor, { breaks: true, present });
      const { body } = await world.execute('block_sender');
      const action = await eventually(
        () => world.get(body.data.action_id),
        (seen) => seen.status !== 'pending',
      );
      expect(action.status).toBe(status);
      expect(vendor.calls).toHaveLength(1);
    },
  );

  it('ends without asking the vendor if its turn to ask comes after the end of the lease', async () => {
    vendor.present = { kind: 'done', message: 'It is blocked.' };
    const state = { sent_to: 'slow', asked_since: Date.now() - 61_000 };
    const id = await insertAction(world.database, { connectorId: 'slow', work: 'accepted', state });
    const { status, result } = await endedOnceDue(`act-${id}`);
    expect([status, result!.code]).toEqual(['failed', 'outcome_unknown']);
  });

  it('is sent again if it is repeatable and the vendor does not know its outcome', async () => {
    vendor.repeatable = true;
    const id = await beginAndCrash(FAILPOINT.answered);
    await world.expireLeases();
    await eventually(() => vendor.calls.length === 2);
    done();
    expect(await endedOnceDue(id)).toMatchObject({ status: 'completed' });
    expect(vendor.calls).toHaveLength(2);
  });

  it('fails when the vendor has not finished within the deadline, and can be rolled back', async () => {
    const id = await begin();
    await acceptedLongAgo();
    expect(await endedOnceDue(id)).toMatchObject({
      status: 'failed',
      result: { success: false, code: 'outcome_unknown' },
    });
    expect((await rollBack(id)).status).toBe(202);
  });

  const rollBack = (id: string) =>
    world.clients.senior.post(`/api/actions/${id}/rollback`, { reason: 'A test.' });

  it('cannot be rolled back before its end, and its rollback is polled as well', async () => {
    const id = await begin();
    const early = await rollBack(id);
    expect([early.status, early.body.error.code]).toEqual([409, 'invalid_state']);
    done();
    await endedOnceDue(id);
    vendor.answer = { kind: 'accepted', message: 'Working on it.', handle: {} };
    const undoing = await rollBack(id);
    expect([undoing.status, undoing.body.data.status]).toEqual([202, 'pending']);
    done();
    expect(await endedOnceDue(undoing.body.data.rollback_action_id)).toMatchObject({
      status: 'completed',
    });
    expect(vendor.calls.map(({ type }) => type)).toEqual(['block_sender', 'unblock_sender']);
  });
});
