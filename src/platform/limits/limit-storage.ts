import type { ThrottlerStorage } from '@nestjs/throttler';

/** State of a limit for one key. Times are seconds from now, with fractions. */
export interface LimitRecord {
  /** Hits in the window, including the current one if it was allowed. */
  readonly totalHits: number;
  /** Time until the window is empty. */
  readonly timeToExpire: number;
  readonly isBlocked: boolean;
  /** Time until the next hit is allowed; 0 if it is allowed now. */
  readonly timeToBlockExpire: number;
}

/**
 * Counts hits per name and key in a sliding window. Rejected hits are not counted, so a caller that keeps trying is
 * allowed again as soon as its earlier hits expire. Names are few and fixed. Each has its own memory, so that invented
 * addresses cannot displace the counters of principals.
 */
export abstract class LimitStorage implements ThrottlerStorage {
  /**
   * Counts one or several hits, or rejects them. `blockDuration` is not used: the window determines when the next hit
   * is allowed.
   */
  abstract increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    name: string,
    hits?: number,
  ): Promise<LimitRecord>;

  /** Whether the shared counter works; `undefined` if each replica counts for itself. */
  abstract sharedWorks(): Promise<boolean | undefined>;

  /** Returns what `increment` would, without counting a hit. */
  abstract peek(key: string, ttl: number, limit: number, name: string): Promise<LimitRecord>;
}
