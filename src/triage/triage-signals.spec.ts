import { llmHealth, type LlmState, OutageLog } from './triage-signals.js';

const AT = new Date('2026-01-31T09:00:00Z');
const minutesAfter = (minutes: number) => new Date(AT.getTime() + minutes * 60_000);

const state = (more: Partial<LlmState> = {}): LlmState => ({
  provider: 'anthropic',
  model: 'a-model',
  heard: { silent: false },
  waiting: 0,
  shortage: undefined,
  now: AT,
  ...more,
});
const SILENT = {
  silent: true,
  last: { reason: 'unreachable', message: 'It does not answer.', at: AT },
} as const;

describe('the health of the provider', () => {
  it.each([
    ['healthy before the first request', state(), 'healthy'],
    ['degraded after a request without an answer', state({ heard: SILENT }), 'degraded'],
    [
      'healthy when that was long ago and nothing waits',
      state({ heard: SILENT, now: minutesAfter(15) }),
      'healthy',
    ],
    [
      'degraded when that was long ago and runs wait',
      state({ heard: SILENT, now: minutesAfter(15), waiting: 1 }),
      'degraded',
    ],
    [
      'degraded when nobody knows whether runs wait',
      state({ heard: SILENT, now: minutesAfter(15), waiting: undefined }),
      'degraded',
    ],
    [
      'healthy after it has answered',
      state({ heard: { ...SILENT, silent: false }, waiting: 1 }),
      'healthy',
    ],
    [
      'degraded while there are no tokens',
      state({ shortage: 'The tokens are used up.' }),
      'degraded',
    ],
    ['disabled without a provider', state({ provider: 'none', waiting: 3 }), 'disabled'],
  ])('is %s', (_, given, status) => {
    expect(llmHealth(given).status).toBe(status);
  });

  it('has the failure, its time and the number of waiting runs', () => {
    expect(llmHealth(state({ heard: SILENT, waiting: 7 }))).toEqual({
      status: 'degraded',
      message: 'The provider gives no verdicts: It does not answer.',
      provider: 'anthropic',
      model: 'a-model',
      runs_waiting: 7,
      last_failure: { reason: 'unreachable', at: AT.toISOString() },
    });
  });

  it('has only the shortage of tokens if there was no request', () => {
    const shortage = 'The tokens are used up.';
    expect(llmHealth(state({ shortage })).message).toBe(shortage);
  });
});

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1_000);

describe('the log of outages', () => {
  const made = () => {
    const log = { warn: jest.fn(), log: jest.fn() };
    return { log, outages: new OutageLog(log) };
  };

  it('has one line for the beginning and one for the end of an outage', () => {
    const { log, outages } = made();
    outages.answered();
    for (let second = 0; second < 300; second += 1)
      outages.silent('overloaded', 'Busy.', at(second));
    for (let run = 0; run < 5; run += 1) outages.answered();
    expect(log.warn.mock.calls).toEqual([
      [{ reason: 'overloaded' }, 'The provider gives no verdicts: Busy.'],
    ]);
    expect(log.log).toHaveBeenCalledTimes(1);
  });

  it('has at most one pair of lines per minute while the provider answers sometimes', () => {
    const { log, outages } = made();
    for (let second = 0; second < 180; second += 1) {
      outages.silent('overloaded', 'Busy.', at(second));
      outages.answered();
    }
    expect([log.warn.mock.calls.length, log.log.mock.calls.length]).toEqual([3, 3]);
  });

  it('has a line for a lasting outage that began soon after another outage', () => {
    const { log, outages } = made();
    outages.silent('overloaded', 'Busy.', at(0));
    outages.answered();
    outages.silent('unreachable', 'Gone.', at(30));
    expect(log.warn).toHaveBeenCalledTimes(1);
    outages.silent('unreachable', 'Gone.', at(61));
    expect(log.warn).toHaveBeenLastCalledWith({ reason: 'unreachable' }, expect.any(String));
  });
});
