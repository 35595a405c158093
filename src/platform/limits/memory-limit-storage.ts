import { type LimitRecord, LimitStorage } from './limit-storage.js';

/** Resolution: a window of one minute has steps of one second. */
const STEPS = 60;

/**
 * Hits of one key within the last `length` milliseconds, in at most 61 steps: constant time and memory for any limit. A
 * step starts with its first hit and expires as a whole, so a burst at the edge of a window cannot exceed the limit:
 * any 59 seconds of a minute window have at most `limit` hits.
 */
export class SlidingWindow {
  private readonly starts: number[] = [];
  private readonly counts: number[] = [];
  private total = 0;

  constructor(private readonly length: number) {}

  hitsAt(now: number): number {
    while (this.starts.length > 0 && this.starts[0]! + this.length <= now) {
      this.starts.shift();
      this.total -= this.counts.shift()!;
    }
    return this.total;
  }

  hit(now: number, hits = 1): void {
    const last = this.starts.length - 1;
    if (last >= 0 && now - this.starts[last]! < this.length / STEPS) {
      this.counts[last]! += hits;
    } else {
      this.starts.push(now);
      this.counts.push(hits);
    }
    this.total += hits;
  }

  /** Time when fewer than `limit` hits are left; in the past if that is already so. */
  freeAt(limit: number): number {
    let left = this.total;
    let at = -Infinity;
    for (let step = 0; left >= limit && step < this.starts.length; step += 1) {
      at = this.starts[step]! + this.length;
      left -= this.counts[step]!;
    }
    return at;
  }

  /** Time when no hit is left. */
  emptyAt(): number {
    return (this.starts.at(-1) ?? -Infinity) + this.length;
  }
}

/** Maximum keys per name, about 20 MB. */
export const MOST_KEYS = 20_000;

/**
 * The windows of one limit in two generations. A hit moves its window to the young generation. After one window length,
 * or when it is full, the young generation becomes the old one and the old one is discarded, so the least recently
 * active keys go first. This needs no timer and no sweep, and each step has constant cost.
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

  /** Returns the window of a key before a hit. */
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

export class MemoryLimitStorage extends LimitStorage {
  private readonly names = new Map<string, RecentWindows>();

  /** Monotonic, so that changing the clock neither frees nor blocks a key. */
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

  /** Number of keys of a name. */
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
