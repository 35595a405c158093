import { cost, LINEAR } from '../../../test/support/cost.js';
import { MemoryLimitStorage, SlidingWindow } from './memory-limit-storage.js';

const MINUTE = 60_000;

function storage() {
  const clock = { now: 1_000 };
  const limits = new MemoryLimitStorage(() => clock.now);
  return { clock, take: (key = 'a', limit = 5) => limits.take(key, MINUTE, limit, 'read'), limits };
}

describe('MemoryLimitStorage', () => {
  it('counts down, rejects, and allows again one minute after the burst', () => {
    const { clock, take } = storage();
    expect([1, 2, 3, 4, 5].map(() => take().totalHits)).toEqual([1, 2, 3, 4, 5]);
    clock.now += 20_000;
    expect(take()).toEqual({
      totalHits: 5,
      timeToExpire: 40,
      isBlocked: true,
      timeToBlockExpire: 40,
    });
    clock.now += 39_999;
    expect(take().isBlocked).toBe(true);
    clock.now += 1;
    expect(take()).toMatchObject({ isBlocked: false, totalHits: 1 });
  });

  it('never allows twice the limit in a burst across a window edge', () => {
    const { clock, limits } = storage();
    const taken: number[] = [];
    for (let ms = 0; ms < 5 * MINUTE; ms += 130) {
      clock.now = 1_000 + ms;
      if (!limits.take('a', MINUTE, 100, 'read').isBlocked) taken.push(clock.now);
    }
    const most = Math.max(
      ...taken.map((from) => taken.filter((at) => at >= from && at < from + 59_000).length),
    );
    expect(most).toBe(100);
    expect(taken.length).toBeGreaterThanOrEqual(500);
  });

  it('frees hits in their order, not all at once', () => {
    const { clock, take } = storage();
    for (let i = 0; i < 5; i += 1) {
      take();
      clock.now += 10_000;
    }
    expect(take()).toMatchObject({ isBlocked: true, timeToBlockExpire: 10, timeToExpire: 50 });
    clock.now += 10_000;
    expect(take().isBlocked).toBe(false);
    expect(take()).toMatchObject({ isBlocked: true, timeToBlockExpire: 10 });
  });

  it('reports when a lowered limit allows the next hit', () => {
    const { clock, take } = storage();
    take('a', 5);
    clock.now += 10_000;
    take('a', 5);
    clock.now += 10_000;
    expect(take('a', 1).timeToBlockExpire).toBe(50);
    expect(take('a', 2).timeToBlockExpire).toBe(40);
  });

  it('does not count rejected hits', () => {
    const { clock, take } = storage();
    for (let i = 0; i < 1_000; i += 1) take();
    clock.now += MINUTE;
    expect(take().totalHits).toBe(1);
  });

  it('counts keys and names separately', () => {
    const { take, limits } = storage();
    for (let i = 0; i < 5; i += 1) take('a');
    expect(take('b').totalHits).toBe(1);
    expect(limits.take('a', MINUTE, 5, 'write').totalHits).toBe(1);
    expect(limits.look('a', MINUTE, 5, 'read').isBlocked).toBe(true);
    expect(limits.look('b', MINUTE, 5, 'read')).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('bounds the number of keys and keeps the most active ones', () => {
    const { clock, take, limits } = storage();
    for (let i = 0; i < 60_000; i += 1) {
      take(`stranger ${i}`);
      if (i % 100 === 0) limits.take('busy', MINUTE, 1e6, 'read');
      clock.now += 0.1;
    }
    expect(limits.size('read')).toBeLessThanOrEqual(20_000);
    expect(limits.look('busy', MINUTE, 1e6, 'read').totalHits).toBe(600);
    for (let i = 0; i < 2; i += 1) {
      clock.now += MINUTE;
      take('one');
    }
    expect(limits.size('read')).toBe(1);
  });

  it('costs the same for each of many hits', async () => {
    const takeMany = (hits: number) => {
      const { limits, clock } = storage();
      for (let i = 0; i < hits; i += 1) {
        limits.take('a', MINUTE, 1e9, 'read');
        clock.now += 1;
      }
    };
    expect(await cost(takeMany, 80_000)).toBeLessThan(LINEAR);
  });
});

const LENGTH = 60_000;
const STEP = 1_000;

describe('a sliding window of a minute', () => {
  it('starts without hits, and is free at any time', () => {
    const window = new SlidingWindow(LENGTH);
    expect(window.hitsAt(0)).toBe(0);
    expect(window.freeAt(1)).toBe(-Infinity);
    expect(window.emptyAt()).toBe(-Infinity);
  });

  it('expires a hit exactly after the length of the window', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(500);
    expect(window.hitsAt(500 + LENGTH - 1)).toBe(1);
    expect(window.hitsAt(500 + LENGTH)).toBe(0);
  });

  it('expires the hits of one step together with its first hit', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(0);
    window.hit(STEP - 1);
    expect(window.hitsAt(LENGTH - 1)).toBe(2);
    expect(window.hitsAt(LENGTH)).toBe(0);
  });

  it('begins a new step with the hit one step after the first hit', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(0);
    window.hit(STEP);
    expect(window.hitsAt(LENGTH)).toBe(1);
    expect(window.hitsAt(LENGTH + STEP)).toBe(0);
  });

  it('begins a new step after all hits expired', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(0);
    window.hitsAt(LENGTH);
    window.hit(LENGTH);
    expect(window.hitsAt(2 * LENGTH - 1)).toBe(1);
  });

  it('reports when fewer hits than the limit are left', () => {
    const window = new SlidingWindow(LENGTH);
    for (const at of [0, 10, 2_000, 4_000]) window.hit(at);
    expect(window.freeAt(5)).toBe(-Infinity);
    expect(window.freeAt(4)).toBe(LENGTH);
    expect(window.freeAt(3)).toBe(LENGTH);
    expect(window.freeAt(2)).toBe(LENGTH + 2_000);
    expect(window.freeAt(1)).toBe(LENGTH + 4_000);
  });

  it('reports when no hit is left', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(0);
    window.hit(3_000);
    expect(window.emptyAt()).toBe(LENGTH + 3_000);
  });

  it('keeps at most 61 steps, however many hits there are', () => {
    const window = new SlidingWindow(LENGTH);
    for (let at = 0; at < 10 * LENGTH; at += 100) {
      window.hitsAt(at);
      window.hit(at);
    }
    const { starts } = window as unknown as { starts: number[] };
    expect(starts.length).toBeLessThanOrEqual(61);
    expect(window.hitsAt(10 * LENGTH - 100)).toBeGreaterThan(590);
  });
});
