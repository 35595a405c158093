import { type LimitRecord, LimitStorage } from './limit-storage.js';
import { SlidingWindow } from './sliding-window.js';

/** Per name: about 10 MB at the very most, reached only by this many keys that are all active within a minute. */
const MOST_KEYS = 20_000;

/** Counts in this process. Keys stand in the order of their last hit, so the stale ones are always the first. */
export class MemoryLimitStorage extends LimitStorage {
  private readonly windows = new Map<string, Map<string, SlidingWindow>>();

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
    const keys = this.keysOf(name);
    forgetStale(keys, now);
    const window = keys.get(key) ?? new SlidingWindow(ttl);
    if (window.hitsAt(now) >= limit) return record(window, limit, now, true);
    window.hit(now);
    keys.delete(key);
    keys.set(key, window);
    return record(window, limit, now, false);
  }

  look(key: string, ttl: number, limit: number, name: string): LimitRecord {
    const now = this.now();
    const window = this.keysOf(name).get(key) ?? new SlidingWindow(ttl);
    return record(window, limit, now, window.hitsAt(now) >= limit);
  }

  private keysOf(name: string): Map<string, SlidingWindow> {
    const known = this.windows.get(name);
    if (known) return known;
    const keys = new Map<string, SlidingWindow>();
    this.windows.set(name, keys);
    return keys;
  }
}

/** Two for each hit: the stale ones go faster than new ones come, and no sweep ever takes long. */
function forgetStale(keys: Map<string, SlidingWindow>, now: number): void {
  let looked = 0;
  for (const [key, window] of keys) {
    if (window.emptyAt() > now && keys.size < MOST_KEYS) return;
    keys.delete(key);
    if (++looked === 2) return;
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
    timeToBlockExpire: Math.max(0, window.freeAt(limit) - now) / 1000,
  };
}
