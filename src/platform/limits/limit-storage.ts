import { Logger, type OnModuleDestroy } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Redis } from 'ioredis';
import { once } from 'node:events';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  type RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Settings } from '../config/settings.js';

/** State of a limit for one key. Times are in seconds from now, with fractions. */
export type LimitRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

const KEY_PREFIX = 'its:limit';
/** Short, because a slow shared counter is worse than a local counter. */
const COMMAND_TIMEOUT_MS = 75;
/** After this time without a response, the connection counts as lost, and requests do not wait for it. */
const SOCKET_TIMEOUT_MS = 500;
const START_TIMEOUT_MS = 1_000;
const LONGEST_RETRY_MS = 2_000;
const PROBE_MS = 1_000;

/** Counts hits in fixed windows: in Redis, or in this process if Redis is not available. Names are few and fixed. */
export class LimitStorage implements ThrottlerStorage, OnModuleDestroy {
  private readonly logger = new Logger('RateLimits');
  private readonly limiters = new Map<string, RateLimiterAbstract>();
  private isAway = false;

  constructor(private readonly redis?: Redis) {
    redis?.on('error', ({ message }: Error) => this.lost(message));
    redis?.on('close', () => this.lost('the connection ended'));
    redis?.on('ready', () => this.found());
  }

  static async open({ redisUrl }: Pick<Settings, 'redisUrl'>): Promise<LimitStorage> {
    if (redisUrl === undefined) return new LimitStorage();
    // Imported only when needed, because the client takes much memory.
    const { Redis } = await import('ioredis');
    const redis = new Redis(redisUrl, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: LONGEST_RETRY_MS,
      disconnectTimeout: COMMAND_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 100, LONGEST_RETRY_MS),
    });
    const storage = new LimitStorage(redis);
    const signal = AbortSignal.timeout(START_TIMEOUT_MS);
    await once(redis, 'ready', { signal }).catch(() => undefined);
    return storage;
  }

  onModuleDestroy(): void {
    this.isAway = true;
    this.redis?.disconnect();
  }

  /** Counts one or more hits, even over the limit. Ignores `blockDuration`: a block ends with the window. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    _blockDuration: number,
    name: string,
    hits = 1,
  ): Promise<LimitRecord> {
    const state = await this.limiterOf(name, ttl).penalty(key, hits);
    return recordOf(state, state.consumedPoints > limit);
  }

  /** Returns the state without counting a hit. `isBlocked` is true if `increment` would block. */
  async peek(key: string, ttl: number, limit: number, name: string): Promise<LimitRecord> {
    const state = await this.limiterOf(name, ttl).get(key);
    return recordOf(state, (state?.consumedPoints ?? 0) >= limit);
  }

  /** Returns `undefined` if replicas count separately. Writes, because a full server or a standby answers reads. */
  async sharedWorks(): Promise<boolean | undefined> {
    return await this.redis?.set(`${KEY_PREFIX}:probe`, 1, 'PX', PROBE_MS).then(
      () => true,
      () => false,
    );
  }

  /** The limiters only count hits. The limit is checked elsewhere, because it depends on the caller. */
  private limiterOf(name: string, ttl: number): RateLimiterAbstract {
    const known = this.limiters.get(name);
    if (known) return known;
    const keyPrefix = `${KEY_PREFIX}:${name}`;
    const options = { keyPrefix, duration: ttl / 1_000, points: Number.MAX_SAFE_INTEGER };
    const local = new RateLimiterMemory(options);
    const shared = {
      storeClient: this.redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: local,
    };
    const limiter = this.redis ? new RateLimiterRedis({ ...options, ...shared }) : local;
    this.limiters.set(name, limiter);
    return limiter;
  }

  private lost(reason: string): void {
    if (this.isAway) return;
    this.isAway = true;
    this.logger.warn(
      `Redis does not count rate limits (${reason}). Until it does, this replica counts locally.`,
    );
  }

  private found(): void {
    if (this.isAway) this.logger.log('Redis counts rate limits again.');
    this.isAway = false;
  }
}

function recordOf(state: RateLimiterRes | null, isBlocked: boolean): LimitRecord {
  const timeToExpire = Math.max(0, state?.msBeforeNext ?? 0) / 1_000;
  const totalHits = state?.consumedPoints ?? 0;
  return { totalHits, timeToExpire, timeToBlockExpire: timeToExpire, isBlocked };
}
