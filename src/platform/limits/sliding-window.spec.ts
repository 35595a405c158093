import { SlidingWindow } from './sliding-window.js';

const LENGTH = 60_000;
const STEP = 1_000;

describe('a sliding window of a minute', () => {
  it('knows no hit at first, and is free at any time', () => {
    const window = new SlidingWindow(LENGTH);
    expect(window.hitsAt(0)).toBe(0);
    expect(window.freeAt(1)).toBe(-Infinity);
    expect(window.emptyAt()).toBe(-Infinity);
  });

  it('forgets a hit when it is exactly as old as the window is long', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(500);
    expect(window.hitsAt(500 + LENGTH - 1)).toBe(1);
    expect(window.hitsAt(500 + LENGTH)).toBe(0);
  });

  it('forgets the hits of one step together, as old as its first one', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(0);
    window.hit(STEP - 1);
    expect(window.hitsAt(LENGTH - 1)).toBe(2);
    expect(window.hitsAt(LENGTH)).toBe(0);
  });

  it('begins a new step with the hit that comes a step after the first one', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(0);
    window.hit(STEP);
    expect(window.hitsAt(LENGTH)).toBe(1);
    expect(window.hitsAt(LENGTH + STEP)).toBe(0);
  });

  it('begins a new step after all have been forgotten', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(0);
    window.hitsAt(LENGTH);
    window.hit(LENGTH);
    expect(window.hitsAt(2 * LENGTH - 1)).toBe(1);
  });

  it('says when fewer hits than the limit are left', () => {
    const window = new SlidingWindow(LENGTH);
    for (const at of [0, 10, 2_000, 4_000]) window.hit(at);
    expect(window.freeAt(5)).toBe(-Infinity);
    expect(window.freeAt(4)).toBe(LENGTH);
    expect(window.freeAt(3)).toBe(LENGTH);
    expect(window.freeAt(2)).toBe(LENGTH + 2_000);
    expect(window.freeAt(1)).toBe(LENGTH + 4_000);
  });

  it('says when none is left', () => {
    const window = new SlidingWindow(LENGTH);
    window.hit(0);
    window.hit(3_000);
    expect(window.emptyAt()).toBe(LENGTH + 3_000);
  });

  it('remembers no more than 61 steps, however many hits there are', () => {
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
