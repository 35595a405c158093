import { llmHealth, type LlmState } from './provider-state.js';

const AT = new Date('2026-01-31T09:00:00Z');
const minutesAfter = (minutes: number) => new Date(AT.getTime() + minutes * 60_000);

const state = (more: Partial<LlmState> = {}): LlmState => ({
  provider: 'anthropic',
  model: 'a-model',
  isSilent: false,
  waiting: 0,
  shortage: undefined,
  now: AT,
  ...more,
});
const SILENT = {
  isSilent: true,
  last: { reason: 'unreachable', message: 'It does not answer.', at: AT },
} as const;

describe('the health of the provider', () => {
  it.each([
    ['healthy before the first request', state(), 'healthy'],
    ['degraded after a request without an answer', state(SILENT), 'degraded'],
    [
      'healthy when that was long ago and nothing waits',
      state({ ...SILENT, now: minutesAfter(15) }),
      'healthy',
    ],
    [
      'degraded when that was long ago and runs wait',
      state({ ...SILENT, now: minutesAfter(15), waiting: 1 }),
      'degraded',
    ],
    [
      'degraded when nobody knows whether runs wait',
      state({ ...SILENT, now: minutesAfter(15), waiting: undefined }),
      'degraded',
    ],
    ['healthy after it has answered', state({ ...SILENT, isSilent: false, waiting: 1 }), 'healthy'],
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
    expect(llmHealth(state({ ...SILENT, waiting: 7 }))).toEqual({
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
