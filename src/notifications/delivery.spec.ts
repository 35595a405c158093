import { endingOf, FAILURES_UNTIL_PROBING, pauseAfter } from './delivery.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const failed = (retryAfterMs?: number) => ({ kind: 'failed', why: 'No.', retryAfterMs }) as const;
const busy = (retryAfterMs: number) => ({ ...failed(retryAfterMs), isBusy: true }) as const;
const refused = { kind: 'refused', why: 'Never.' } as const;

const about = (attempts: number, left_ms = DAY_MS) => ({ attempts, left_ms });

const waitOf = (
  attempts: number,
  random: number,
  retryAfterMs?: number,
  left_ms = DAY_MS,
): number => {
  const ending = endingOf(failed(retryAfterMs), about(attempts, left_ms), random);
  if (ending.kind !== 'again') throw new Error(ending.kind);
  return ending.waitMs!;
};

describe('a delivery after an attempt', () => {
  it('is dead if the receiver refuses it', () => {
    const dead = { kind: 'dead', error: 'Never.' };
    expect(endingOf(refused, about(1), 0.5)).toEqual(dead);
  });

  it('waits longer after each failure, at most 1 h', () => {
    const waits = Array.from({ length: 12 }, (_, index) => waitOf(index + 1, 0.5));
    expect(waits.slice(0, 4)).toEqual([2_000, 6_000, 18_000, 54_000]);
    expect(waits).toEqual(waits.toSorted((one, other) => one - other));
    expect(waits.at(-1)).toBe(HOUR_MS);
    expect(waitOf(1_000, 0.5)).toBe(HOUR_MS);
  });

  it('has a random part in its backoff', () => {
    expect([waitOf(1, 0), waitOf(1, 1)]).toEqual([1_500, 2_500]);
  });

  it('waits at least as long as Retry-After asks', () => {
    expect(waitOf(1, 0.5, 90_000)).toBe(90_000);
    expect(waitOf(9, 0.5, 1_000)).toBe(HOUR_MS);
  });

  it('waits exactly as long as Retry-After asks if the receiver is busy, after any number of attempts', () => {
    const waits = [1, 9, 99].map((attempts) => endingOf(busy(1_000), about(attempts), 0.5));
    expect(waits).toEqual(waits.map(() => ({ kind: 'again', waitMs: 1_000, error: 'No.' })));
  });

  it('gets a last attempt at the end of its 24 h, and is dead if that attempt fails', () => {
    expect(waitOf(5, 0.5, 7 * DAY_MS, 20_000)).toBe(20_000);
    expect(endingOf(failed(), about(6, 0), 0.5)).toMatchObject({ kind: 'dead', error: 'No.' });
  });
});

describe('a channel after an attempt', () => {
  it('is not paused after a single failed or refused message', () => {
    expect(pauseAfter(failed(), 1, 0.5)).toBe(0);
    expect(pauseAfter(refused, 2, 0.5)).toBe(0);
  });

  it('is paused after several refused messages in a row, so that the next messages are not lost, too', () => {
    expect(pauseAfter(refused, FAILURES_UNTIL_PROBING, 0.5)).toBe(5_000);
  });

  it('is paused exactly as long as Retry-After of a busy receiver asks, at least 1 s and at most 24 h', () => {
    const pauses = [1_000, 0, 30_000, 1e12].map((asked) => pauseAfter(busy(asked), 99, 0.5));
    expect(pauses).toEqual([1_000, 1_000, 30_000, DAY_MS]);
  });

  it('is paused after several failures in a row, longer after each failure, and at most 5 min', () => {
    const pauses = [0, 1, 2, 20, 2_000].map((more) =>
      pauseAfter(failed(), FAILURES_UNTIL_PROBING + more, 0.5),
    );
    expect(pauses).toEqual([5_000, 10_000, 20_000, 300_000, 300_000]);
  });

  it('is paused after a single failure as long as Retry-After asks, at most 24 h', () => {
    expect(pauseAfter(failed(30_000), 1, 0.5)).toBe(30_000);
    expect(pauseAfter(failed(1e12), 1, 0.5)).toBe(DAY_MS);
  });
});
