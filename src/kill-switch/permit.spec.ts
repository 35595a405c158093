import { Permit, PermitGate, PermitLapsed } from './permit.js';

describe('Permit', () => {
  const permit = new Permit(5_000, 9_000);
  const setTime = (monotonic: number, wall: number) => {
    jest.spyOn(performance, 'now').mockReturnValue(monotonic);
    jest.spyOn(Date, 'now').mockReturnValue(wall);
  };
  afterEach(() => jest.restoreAllMocks());

  it('is valid for less than one second', () => {
    setTime(5_999, 9_999);
    permit.assertFresh();
    setTime(6_000, 9_000);
    expect(() => permit.assertFresh()).toThrow(PermitLapsed);
  });

  it.each([20_000, 0])('expires in time even if the wall clock jumps to %d', (wall) => {
    setTime(5_001, wall);
    expect(() => permit.assertFresh()).toThrow(PermitLapsed);
  });
});

describe('PermitGate', () => {
  const lapsed = () => new Permit(0, 0);
  const fresh = () => new Permit();
  const send = (gate: PermitGate) => gate.send(async ({ leave }) => leave());

  it('uses the permit of the claim for the first request, and renews it for each further request', async () => {
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

  it('throws after a request without a check of the kill switch, and counts as opened because the request may have had an effect', async () => {
    const { signal } = new AbortController();
    const gate = new PermitGate({ renewPermit: jest.fn() }, fresh(), signal);
    await expect(gate.send(async () => 'done')).rejects.toThrow(
      'without a check of the kill switch',
    );
    expect(gate.opened).toBe(true);
    const unused = new PermitGate({ renewPermit: jest.fn() }, fresh(), signal);
    await expect(unused.send(() => Promise.reject(new Error('no request')))).rejects.toThrow();
    expect(unused.opened).toBe(false);
  });

  it('renews permit and claim together if the first request is late', async () => {
    const reclaim = async (): Promise<void> => undefined;
    const renewPermit = jest.fn(async () => fresh());
    const gate = new PermitGate({ renewPermit }, lapsed(), new AbortController().signal, {
      reclaim,
    });
    await send(gate);
    expect(renewPermit).toHaveBeenCalledWith(reclaim);
  });

  it('blocks requests if the switch is on, if a new permit has expired already, or if the call was aborted', async () => {
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

  it('records once that sending begins, before the first request leaves', async () => {
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

  it('blocks the request if recording the sending fails, and records it on the next attempt', async () => {
    const noteSending = jest.fn<Promise<void>, []>().mockRejectedValueOnce(new Error('lost'));
    const renewPermit = async (): Promise<Permit> => fresh();
    const { signal } = new AbortController();
    const gate = new PermitGate({ renewPermit }, fresh(), signal, { noteSending });
    await expect(send(gate)).rejects.toThrow('lost');
    expect(gate.opened).toBe(false);
    await send(gate);
    expect(noteSending).toHaveBeenCalledTimes(2);
  });
});
