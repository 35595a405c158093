import { SlidingWindow } from './sliding-window.js';
import { type LimitRecord, LimitStorage } from './limit-storage.js';

/** Per name: some 20 MB at the very most, reached only by as many keys that are all active within a minute. */
export const MOST_KEYS = 20_000;

/**
 * The windows of one limit, in two generations: whoever is active is in the young one. When the young one is as old as
 * a window is long, it becomes the old one, and what the old one held is forgotten: nothing in it has been hit for that
 * long. It takes its place early when it is full, so that the ones that were active longest ago go first. No timer, no
 * sweep, and every step costs the same.
 */
class RecentWindows {
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

/** Counts in this process. */
export class MemoryLimitStorage extends LimitStorage {
  private readonly names = new Map<string, RecentWindows>();

  /** Monotonic, so that setting the clock neither frees nor blocks anyone. */
  constructor(private readonly now: () => number = () => performance.now()) {
    super();
  }

  sharedWorks(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async increment(
    key: string,
    ttl: number,
    limit: number,
    _blockDuration: number,
    name: string,
    hits = 1,
  ): Promise<LimitRecord> {
    return this.take(key, ttl, limit, name, hits);
  }

  async peek(key: string, ttl: number, limit: number, name: string): Promise<LimitRecord> {
    return this.look(key, ttl, limit, name);
  }

  take(key: string, ttl: number, limit: number, name: string, hits = 1): LimitRecord {
    const now = this.now();
    const window = this.windowsOf(name, ttl, now).touch(key, now);
    const isBlocked = window.hitsAt(now) >= limit;
    if (!isBlocked) window.hit(now, hits);
    return record(window, limit, now, isBlocked);
  }

  look(key: string, ttl: number, limit: number, name: string): LimitRecord {
    const now = this.now();
    const window = this.names.get(name)?.find(key) ?? new SlidingWindow(ttl);
    return record(window, limit, now, window.hitsAt(now) >= limit);
  }

  /** How many keys are known under a name. */
  size(name: string): number {
    return this.names.get(name)?.size ?? 0;
  }

  private windowsOf(name: string, ttl: number, now: number): RecentWindows {
    let windows = this.names.get(name);
    if (!windows) this.names.set(name, (windows = new RecentWindows(ttl, now)));
    return windows;
  }
}

function record(
  window: SlidingWindow,
  limit: number,
  now: number,
  isBlocked: boolean,
): LimitRecord {
  return {
    totalHits: window.hitsAt(now),
    timeToExpire: Math.max(0, window.emptyAt() - now) / 1000,
    isBlocked,
    timeToBlockExpire: isBlocked ? Math.max(0, window.freeAt(limit) - now) / 1000 : 0,
  };
}
