import { MemoryLimitStorage } from './memory-limit-storage.js';

const MINUTE = 60_000;

function storage() {
  const clock = { now: 1_000 };
  const limits = new MemoryLimitStorage(() => clock.now);
  return { clock, take: (key = 'a', limit = 5) => limits.take(key, MINUTE, limit, 'read'), limits };
}

describe('MemoryLimitStorage', () => {
  it('counts down to nothing, refuses, and is free again a minute after the burst', () => {
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

  it('lets no burst over an edge have twice the limit, wherever the edge is', () => {
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

  it('frees hits in the order in which they came, not all at once', () => {
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

  it('says when a lowered limit lets the next one through', () => {
    const { clock, take } = storage();
    take('a', 5);
    clock.now += 10_000;
    take('a', 5);
    clock.now += 10_000;
    expect(take('a', 1).timeToBlockExpire).toBe(50);
    expect(take('a', 2).timeToBlockExpire).toBe(40);
  });

  it('does not count what it refuses', () => {
    const { clock, take } = storage();
    for (let i = 0; i < 1_000; i += 1) take();
    clock.now += MINUTE;
    expect(take().totalHits).toBe(1);
  });

  it('keeps keys and names apart', () => {
    const { take, limits } = storage();
    for (let i = 0; i < 5; i += 1) take('a');
    expect(take('b').totalHits).toBe(1);
    expect(limits.take('a', MINUTE, 5, 'write').totalHits).toBe(1);
    expect(limits.look('a', MINUTE, 5, 'read').isBlocked).toBe(true);
    expect(limits.look('b', MINUTE, 5, 'read')).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('stays bounded in keys, and keeps who is active longest', () => {
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

  it('costs the same for a million hits as for ten', () => {
    const { limits, clock } = storage();
    const started = performance.now();
    for (let i = 0; i < 300_000; i += 1) {
      limits.take('a', MINUTE, 1e9, 'read');
      clock.now += 1;
    }
    const micros = ((performance.now() - started) * 1000) / 300_000;
    expect(micros).toBeLessThan(20);
  });
});
