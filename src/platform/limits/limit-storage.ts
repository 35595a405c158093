import type { ThrottlerStorage } from '@nestjs/throttler';

/** The state of a limit for one key; times are seconds from now, with fractions. */
export interface LimitRecord {
  /** Hits within the window, the present one included when it was let through. */
  readonly totalHits: number;
  /** Until the whole limit is free again. */
  readonly timeToExpire: number;
  readonly isBlocked: boolean;
  /** Until the next hit is let through; 0 when it would be now. */
  readonly timeToBlockExpire: number;
}

/**
 * Counts hits per name and key within a sliding window. What is refused is not counted, so that a caller who keeps
 * trying is let through as soon as the earlier hits are old enough. The names are few and written in code; each has a
 * memory of its own, so that strangers who invent addresses cannot push out what is known of principals.
 */
export abstract class LimitStorage implements ThrottlerStorage {
  /** Takes one hit, or several together, or refuses them. `blockDuration` has no use here: the window itself says when to come back. */
  abstract increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    name: string,
    hits?: number,
  ): Promise<LimitRecord>;

  /** Whether what all replicas count in can be counted in; undefined where each counts for itself. */
  abstract sharedWorks(): Promise<boolean | undefined>;

  /** What `increment` would say, without taking a hit. */
  abstract peek(key: string, ttl: number, limit: number, name: string): Promise<LimitRecord>;
}
