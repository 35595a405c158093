import { llmHealth, type LlmState } from './llm-health.js';

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
    ['healthy before anybody asked it', state(), 'healthy'],
    ['degraded after it gave nothing', state({ heard: SILENT }), 'degraded'],
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
    ['disabled without one', state({ provider: 'none', waiting: 3 }), 'disabled'],
  ])('is %s', (_, given, status) => {
    expect(llmHealth(given).status).toBe(status);
  });

  it('says what is wrong, since when, and how many runs wait', () => {
    expect(llmHealth(state({ heard: SILENT, waiting: 7 }))).toEqual({
      status: 'degraded',
      message: 'The provider gives nothing: It does not answer.',
      provider: 'anthropic',
      model: 'a-model',
      runs_waiting: 7,
      last_failure: { reason: 'unreachable', at: AT.toISOString() },
    });
  });

  it('speaks of no attempt where there was none', () => {
    const shortage = 'The tokens are used up.';
    expect(llmHealth(state({ shortage })).message).toBe(shortage);
  });
});
