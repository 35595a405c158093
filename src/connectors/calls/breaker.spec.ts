import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { CircuitBreaker, backoff, mayRepeat } from './vendor-calls.js';

describe('CircuitBreaker', () => {
  afterEach(() => jest.restoreAllMocks());

  it('rejects calls after five failures in a row, and lets one call through after a pause', () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const breaker = new CircuitBreaker();
    for (let turn = 0; turn < 4; turn += 1) breaker.end('failing', 'x');
    breaker.end('well');
    for (let turn = 0; turn < 5; turn += 1) {
      breaker.enter();
      breaker.end('failing', 'x');
    }
    expect(breaker.enter()).toBeInstanceOf(UnreachableError);
    now = 30_000;
    breaker.enter();
    expect(breaker.enter()).toBeInstanceOf(UnreachableError);
    breaker.end('failing', 'x');
    expect(breaker.enter()).toBeInstanceOf(UnreachableError);
    now = 60_000;
    breaker.enter();
    breaker.end('unclear');
    breaker.enter();
    breaker.end('well');
    breaker.enter();
    breaker.enter();
  });
});

describe('mayRepeat', () => {
  it('allows a retry if nothing was sent or if the call is idempotent', () => {
    const unknown = new OutcomeUnknownError('?', 'broken');
    expect(mayRepeat(new UnreachableError('x'), false)).toBe(true);
    expect(mayRepeat(new UnreachableError('x', { temporary: false }), true)).toBe(false);
    expect(mayRepeat(unknown, true)).toBe(true);
    expect(mayRepeat(unknown, false)).toBe(false);
    expect(mayRepeat(new Error('from the gate'), true)).toBe(false);
  });
});

describe('backoff', () => {
  it('doubles with each attempt, with jitter', () => {
    expect([1, 2, 3].map((attempt) => backoff(attempt, 0.5))).toEqual([200, 400, 800]);
    expect(backoff(1, 0)).toBe(100);
  });
});
