import { SlidingWindow } from './sliding-window.js';

/** Per name: some 20 MB at the very most, reached only by as many keys that are all active within a minute. */
export const MOST_KEYS = 20_000;

/**
 * The windows of one limit, in two generations: whoever is active is in the young one. When the young one is as old as
 * a window is long, it becomes the old one, and what the old one held is forgotten: nothing in it has been hit for that
 * long. It takes its place early when it is full, so that the ones that were active longest ago go first. No timer, no
 * sweep, and every step costs the same.
 */
export class RecentWindows {
  private young = new Map<string, SlidingWindow>();
  private old = new Map<string, SlidingWindow>();
  private bornAt: number;

  constructor(
    private readonly length: number,
    now: number,
  ) {
    this.bornAt = now;
  }

  get size(): number {
    return this.young.size + this.old.size;
  }

  find(key: string): SlidingWindow | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  /** The window of a key that is about to be hit. */
  touch(key: string, now: number): SlidingWindow {
    if (now - this.bornAt >= this.length || this.young.size >= MOST_KEYS / 2) this.turn(now);
    let window = this.young.get(key);
    if (!window) {
      window = this.old.get(key) ?? new SlidingWindow(this.length);
      this.old.delete(key);
      this.young.set(key, window);
    }
    return window;
  }

  private turn(now: number): void {
    this.old = this.young;
    this.young = new Map();
    this.bornAt = now;
  }
}
