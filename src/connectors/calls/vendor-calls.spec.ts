/** @jest-environment-options {"ownModules": true} */
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import {
  OutboundAnswer,
  type OutboundRequest,
  type Departure,
  type Gate,
} from '../../platform/net/outbound-request.js';
import { VendorCalls, type VendorRequest } from './vendor-calls.js';

const REQUEST: VendorRequest = { method: 'POST', url: new URL('https://vendor.example') };
const IDEMPOTENT = { idempotent: true };

type Turn = number | Error | OutboundAnswer;

function answer(status: number, headers: Readonly<Record<string, string>> = {}): OutboundAnswer {
  return new OutboundAnswer(status, headers, Buffer.alloc(0));
}

/** Vendor that answers with the turns in order and then repeats the last turn. */
function callsOf(...turns: Turn[]) {
  const requests: OutboundRequest[] = [];
  const waits: number[] = [];
  const http = {
    request: async (request: OutboundRequest) => {
      const turn = turns[Math.min(requests.length, turns.length - 1)]!;
      requests.push(request);
      if (turn instanceof Error) throw turn;
      return typeof turn === 'number' ? answer(turn) : turn;
    },
  } as OutboundHttp;
  const calls = new VendorCalls({ http, wait: async (ms) => void waits.push(ms) });
  return { http, requests, waits, calls };
}

const DEPARTURE: Departure = { signal: new AbortController().signal, leave: async () => undefined };
const OPEN: Gate = { send: (request) => request(DEPARTURE) };
const shutWith = (error: Error): Gate => ({ send: () => Promise.reject(error) });

describe('VendorCalls', () => {
  beforeEach(() => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('uses a timeout of 10 s, the abort signal of the permit check, and its callback before sending', async () => {
    const leave = jest.fn(async () => undefined);
    const { calls, requests } = callsOf(200);
    const gate: Gate = { send: (request) => request({ signal: DEPARTURE.signal, leave }) };
    await calls.send(gate, REQUEST, { idempotent: false });
    expect(requests).toMatchObject([{ ...REQUEST, timeoutMs: 10_000, signal: DEPARTURE.signal }]);
    await requests[0]!.beforeLeaving!();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('uses the timeout that a request defines, with or without a permit check', async () => {
    const { calls, requests } = callsOf(200);
    await calls.send(OPEN, { ...REQUEST, timeoutMs: 7 }, IDEMPOTENT);
    await calls.send(undefined, { ...REQUEST, timeoutMs: 8 }, IDEMPOTENT);
    await calls.send(undefined, REQUEST, IDEMPOTENT);
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([7, 8, 5_000]);
  });

  it('returns a temporary failure without a retry if the request is not idempotent', async () => {
    const { calls, requests } = callsOf(503);
    const { status } = await calls.send(OPEN, REQUEST, { idempotent: false });
    expect([status, requests.length]).toEqual([503, 1]);
  });

  it.each([429, 502, 503, 504])(
    'repeats an idempotent request after status %i, and waits longer each time',
    async (status) => {
      const { calls, waits } = callsOf(status, status, 200);
      expect((await calls.send(OPEN, REQUEST, IDEMPOTENT)).status).toBe(200);
      expect(waits).toEqual([200, 400]);
    },
  );

  it.each([200, 400, 404, 500, 501])(
    'returns status %i without a retry, even for an idempotent request',
    async (status) => {
      const { calls, requests } = callsOf(status);
      expect((await calls.send(OPEN, REQUEST, IDEMPOTENT)).status).toBe(status);
      expect(requests).toHaveLength(1);
    },
  );

  it('returns the answer of the third attempt, with any status', async () => {
    const { calls, requests, waits } = callsOf(503);
    expect((await calls.send(OPEN, REQUEST, IDEMPOTENT)).status).toBe(503);
    expect([requests.length, waits.length]).toEqual([3, 2]);
  });

  it.each([
    ['as long as the vendor asks if that is longer', '3', 3_000],
    ['as long as without Retry-After if that is longer', '0', 200],
  ])('given Retry-After, waits %s', async (_, retryAfter, expected) => {
    const { calls, waits } = callsOf(answer(503, { 'retry-after': retryAfter }), 200);
    await calls.send(OPEN, REQUEST, IDEMPOTENT);
    expect(waits).toEqual([expected]);
  });

  it('waits in real time by default', async () => {
    const { http } = callsOf(503, 200);
    jest.spyOn(Math, 'random').mockReturnValue(0);
    let waited = false;
    setTimeout(() => (waited = true), 50);
    await new VendorCalls({ http }).send(OPEN, REQUEST, IDEMPOTENT);
    expect(waited).toBe(true);
  });

  it('returns the answer without a retry if the vendor asks for too long a wait', async () => {
    const { calls, requests } = callsOf(answer(503, { 'retry-after': '60' }), 200);
    expect((await calls.send(OPEN, REQUEST, IDEMPOTENT)).status).toBe(503);
    expect(requests).toHaveLength(1);
  });

  it('retries any request that was not sent, and finally reports that nothing was sent', async () => {
    const { calls, requests } = callsOf(new UnreachableError('away'));
    await expect(calls.send(OPEN, REQUEST, { idempotent: false })).rejects.toThrow('away');
    expect(requests).toHaveLength(3);
  });

  it('does not retry a request to a target that is not allowed', async () => {
    const { calls, requests } = callsOf(new UnreachableError('never', { temporary: false }));
    await expect(calls.send(OPEN, REQUEST, IDEMPOTENT)).rejects.toThrow('never');
    expect(requests).toHaveLength(1);
  });

  it('reports an unknown outcome if one attempt sent something and the later attempts did not', async () => {
    const unknown = new OutcomeUnknownError('cut', 'broken');
    const { calls, requests } = callsOf(unknown, new UnreachableError('away'));
    await expect(calls.send(OPEN, REQUEST, IDEMPOTENT)).rejects.toBe(unknown);
    expect(requests).toHaveLength(3);
  });

  it('throws the error of the permit check, even after an attempt that sent something', async () => {
    const refusal = new Error('the switch is on');
    const { calls } = callsOf(new OutcomeUnknownError('cut', 'broken'));
    let asked = 0;
    const gate: Gate = {
      send: (request) => ((asked += 1) === 1 ? request(DEPARTURE) : Promise.reject(refusal)),
    };
    await expect(calls.send(gate, REQUEST, IDEMPOTENT)).rejects.toBe(refusal);
  });

  describe('with its circuit breaker', () => {
    const fiveTimes = async (work: () => Promise<unknown>): Promise<void> => {
      for (let turn = 0; turn < 5; turn += 1) await work().catch(() => undefined);
    };

    it.each<[string, Turn]>([
      ['answers of status 503', 503],
      ['attempts that reach no server', new UnreachableError('away', { temporary: false })],
      ['attempts whose outcome is unknown', new OutcomeUnknownError('cut', 'broken')],
    ])('sends nothing more after five %s', async (_, turn) => {
      const { calls, requests } = callsOf(turn);
      const call = () => calls.send(OPEN, REQUEST, { idempotent: false });
      await fiveTimes(call);
      await expect(call()).rejects.toThrow('No further call is made');
      expect(requests).toHaveLength(5);
    });

    it('still sends after answers with status 500, because a single bad request can cause them', async () => {
      const { calls, requests } = callsOf(503, 503, 500, 500, 500, 500, 500, 503, 503, 503, 200);
      const call = () => calls.send(OPEN, REQUEST, { idempotent: false });
      await fiveTimes(call);
      await fiveTimes(call);
      // These answers do not reset the count of other failures.
      await expect(call()).rejects.toThrow('No further call is made');
      expect(requests).toHaveLength(10);
    });

    it('still sends after answers with status 499, and after refusals of the permit check', async () => {
      const { calls, requests } = callsOf(499);
      await fiveTimes(() => calls.send(OPEN, REQUEST, IDEMPOTENT));
      await fiveTimes(() => calls.send(shutWith(new Error('shut')), REQUEST, IDEMPOTENT));
      await calls.send(OPEN, REQUEST, IDEMPOTENT);
      expect(requests).toHaveLength(6);
    });

    describe('after aborted calls', () => {
      const givenUpFor = (reason: Error) => {
        const giver = new AbortController();
        const departure = { ...DEPARTURE, signal: giver.signal };
        const gate: Gate = {
          send: (request) => {
            const answer = request(departure);
            giver.abort(reason);
            return answer;
          },
        };
        const calls = callsOf(new OutcomeUnknownError('The request was given up.', 'timeout'));
        return { ...calls, call: () => calls.calls.send(gate, REQUEST, IDEMPOTENT) };
      };

      it('still sends if the vendor did not cause the aborts, and repeats no aborted call', async () => {
        const { call, requests } = givenUpFor(new Error('The claim is lost.'));
        await fiveTimes(call);
        await expect(call()).rejects.toThrow('given up');
        expect(requests).toHaveLength(6);
      });

      it('sends nothing more if the cause was five timeouts of the vendor', async () => {
        const { call, requests } = givenUpFor(new OutcomeUnknownError('too long', 'timeout'));
        await fiveTimes(call);
        await expect(call()).rejects.toThrow('No further call is made');
        expect(requests).toHaveLength(5);
      });
    });

    it('after the pause, lets the second call try the vendor if the permit check refused the first call', async () => {
      let now = 0;
      jest.spyOn(performance, 'now').mockImplementation(() => now);
      const { calls } = callsOf(503, 503, 503, 503, 503, 200);
      const options = { idempotent: false };
      await fiveTimes(() => calls.send(OPEN, REQUEST, options));
      now = 30_000;
      const refused = calls.send(shutWith(new Error('shut')), REQUEST, options);
      await expect(refused).rejects.toThrow('shut');
      expect((await calls.send(OPEN, REQUEST, options)).status).toBe(200);
    });
  });
});
