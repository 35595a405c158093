/** @jest-environment-options {"ownModules": true} */
import type { Action } from '../action.js';
import { CallDeadlineError, ClaimLostError, LeaseKeeper } from './lease-keeper.js';

const LEASE_MS = 900;
const DEADLINE_MS = 5_000;
const BEAT_MS = LEASE_MS / 3;
const action = { id: 'a' } as Action;

describe('LeaseKeeper', () => {
  let renew: jest.Mock<Promise<boolean>, [Action]>;
  let keeper: LeaseKeeper;

  beforeEach(() => {
    jest.useFakeTimers();
    renew = jest.fn<Promise<boolean>, [Action]>(async () => true);
    keeper = new LeaseKeeper(action, { leaseMs: LEASE_MS, deadlineMs: DEADLINE_MS, renew });
  });
  afterEach(() => {
    keeper.stop();
    jest.useRealTimers();
  });

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
  const never = () => new Promise<never>(() => undefined);
  const endOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);

  it('renews the lease several times before it expires, and returns the result of the work', async () => {
    const work = Promise.withResolvers<string>();
    const result = keeper.unlessOver(work.promise);
    await pass(LEASE_MS);
    expect(renew.mock.calls).toEqual([[action], [action], [action]]);
    work.resolve('done');
    expect(await result).toBe('done');
    expect(keeper.signal.aborted).toBe(false);
  });

  it('aborts the call of a run that lost its claim, without waiting for the call', async () => {
    const end = endOf(keeper.unlessOver(never()));
    await pass(BEAT_MS);
    expect(keeper.signal.aborted).toBe(false);
    renew.mockResolvedValue(false);
    await pass(BEAT_MS);
    expect(keeper.signal.reason).toBeInstanceOf(ClaimLostError);
    expect(await end).toBeInstanceOf(ClaimLostError);
    const next = endOf(keeper.unlessOver(never()));
    expect(await next).toBeInstanceOf(ClaimLostError);
  });

  it('continues if the lease cannot be renewed because the database is down', async () => {
    renew.mockRejectedValue(new Error('no connection'));
    await pass(LEASE_MS * 2);
    expect(keeper.signal.aborted).toBe(false);
    renew.mockResolvedValue(false);
    await pass(BEAT_MS);
    expect(keeper.signal.reason).toBeInstanceOf(ClaimLostError);
  });

  it('aborts a call that exceeds the deadline of the action', async () => {
    const end = endOf(keeper.unlessOver(never()));
    await pass(DEADLINE_MS - 1);
    expect(keeper.signal.aborted).toBe(false);
    await pass(1);
    expect(await end).toBeInstanceOf(CallDeadlineError);
  });

  it('neither renews nor aborts after it is stopped', async () => {
    keeper.stop();
    await pass(DEADLINE_MS * 2);
    expect(renew).not.toHaveBeenCalled();
    expect(keeper.signal.aborted).toBe(false);
  });
});
