import { type LimitRecord, LimitStorage } from './limit-storage.js';
import { RecentWindows } from './recent-windows.js';
import { SlidingWindow } from './sliding-window.js';

/** Counts in this process. */
export class MemoryLimitStorage extends LimitStorage {
  private readonly names = new Map<string, RecentWindows>();

  /** Monotonic, so that setting the clock neither frees nor blocks anyone. */
  constructor(private readonly now: () => number = () => performance.now()) {
    super();
  }

  async increment(
    key: string,
    ttl: number,
    limit: number,
    _blockDuration: number,
    name: string,
  ): Promise<LimitRecord> {
    return this.take(key, ttl, limit, name);
  }

  async peek(key: string, ttl: number, limit: number, name: string): Promise<LimitRecord> {
    return this.look(key, ttl, limit, name);
  }

  take(key: string, ttl: number, limit: number, name: string): LimitRecord {
    const now = this.now();
    const window = this.windowsOf(name, ttl, now).touch(key, now);
    const isBlocked = window.hitsAt(now) >= limit;
    if (!isBlocked) window.hit(now);
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
