import { Permit, PermitLapsed, type PermitTimes } from './permit.js';
import { PermitGate } from './permit-gate.js';

describe('Permit', () => {
  let now: PermitTimes;
  const since = { monotonic: 5_000, wall: 9_000 };
  const permit = new Permit(since, () => now);

  beforeEach(() => {
    now = since;
  });

  it('holds for less than a second', () => {
    now = { monotonic: 5_999, wall: 9_999 };
    permit.assertFresh();
    now = { monotonic: 6_000, wall: 9_000 };
    expect(() => permit.assertFresh()).toThrow(PermitLapsed);
  });

  it.each([20_000, 0])('lapses when only the clock on the wall went to %d', (wall) => {
    now = { monotonic: 5_001, wall };
    expect(() => permit.assertFresh()).toThrow(PermitLapsed);
  });
});

describe('PermitGate', () => {
  const lapsed = () => new Permit({ monotonic: 0, wall: 0 });
  const fresh = () => new Permit({ monotonic: performance.now(), wall: Date.now() });
  const send = (gate: PermitGate) => gate.send(async ({ leave }) => leave());

  it('uses the permit of the claim once, and asks again for every further request', async () => {
    const renewPermit = jest.fn(async () => fresh());
    const gate = new PermitGate({ renewPermit }, fresh(), new AbortController().signal);
    expect(gate.opened).toBe(false);
    await send(gate);
    expect(gate.opened).toBe(true);
    expect(renewPermit).toHaveBeenCalledTimes(0);
    await send(gate);
    await send(gate);
    expect(renewPermit).toHaveBeenCalledTimes(2);
  });

  it('counts as opened when a request went out without asking, which may have had its effect', async () => {
    const gate = new PermitGate({ renewPermit: jest.fn() }, fresh(), new AbortController().signal);
    await expect(gate.send(async () => 'done')).rejects.toThrow('without asking');
    expect(gate.opened).toBe(true);
    const refused = new PermitGate(
      { renewPermit: jest.fn() },
      fresh(),
      new AbortController().signal,
    );
    await expect(refused.send(() => Promise.reject(new Error('no request')))).rejects.toThrow();
    expect(refused.opened).toBe(false);
  });

  it('asks again when the first request comes too late, and lets the claim take part', async () => {
    const reclaim = async (): Promise<void> => undefined;
    const renewPermit = jest.fn(async () => fresh());
    const gate = new PermitGate({ renewPermit }, lapsed(), new AbortController().signal, {
      reclaim,
    });
    await send(gate);
    expect(renewPermit).toHaveBeenCalledWith(reclaim);
  });

  it('lets nothing out when the switch is on, the permit lapses at once, or the call was given up', async () => {
    const off = new AbortController();
    const refusing = { renewPermit: jest.fn().mockRejectedValue(new Error('on')) };
    const shut = new PermitGate(refusing, lapsed(), off.signal);
    await expect(send(shut)).rejects.toThrow('on');
    const slow = new PermitGate({ renewPermit: async () => lapsed() }, lapsed(), off.signal);
    await expect(send(slow)).rejects.toThrow(PermitLapsed);
    off.abort(new Error('given up'));
    const given = new PermitGate({ renewPermit: async () => fresh() }, fresh(), off.signal);
    await expect(send(given)).rejects.toThrow('given up');
    expect([shut, slow, given].map(({ opened }) => opened)).toEqual([false, false, false]);
  });

  it('has it noted once, before the first request, that one may leave', async () => {
    const steps: string[] = [];
    const renewPermit = async (): Promise<Permit> => {
      steps.push('renewed');
      return fresh();
    };
    const noteSending = async (): Promise<void> => void steps.push('noted');
    const { signal } = new AbortController();
    const gate = new PermitGate({ renewPermit }, lapsed(), signal, { noteSending });
    await send(gate);
    await send(gate);
    expect(steps).toEqual(['noted', 'renewed', 'renewed']);
  });

  it('lets nothing out, and notes it the next time, when it cannot be noted that it may leave', async () => {
    const noteSending = jest.fn<Promise<void>, []>().mockRejectedValueOnce(new Error('lost'));
    const renewPermit = async (): Promise<Permit> => fresh();
    const { signal } = new AbortController();
    const gate = new PermitGate({ renewPermit }, fresh(), signal, { noteSending });
    await expect(send(gate)).rejects.toThrow('lost');
    expect(gate.opened).toBe(false);
    await send(gate);
    expect(noteSending).toHaveBeenCalledTimes(2);
  });

  it('notices a request that went around it', async () => {
    const renewPermit = async (): Promise<Permit> => fresh();
    const gate = new PermitGate({ renewPermit }, fresh(), new AbortController().signal);
    await expect(gate.send(async () => 'sent')).rejects.toThrow('without asking');
  });
});
