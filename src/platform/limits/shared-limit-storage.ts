import { Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type LimitRecord, LimitStorage } from './limit-storage.js';
import type { MemoryLimitStorage } from './memory-limit-storage.js';
import { once } from 'node:events';
import { Redis } from 'ioredis';

/** Short, because a slow shared counter is worse than a local one. */
const PATIENCE_MS = 75;
const START_PATIENCE_MS = 1_000;
const LONGEST_RETRY_MS = 2_000;
const STEPS = 60;

/**
 * The sliding window (see SlidingWindow) as one atomic script over a list of start, count, start, count …, by the clock
 * of Redis. Returns: allowed, hits, milliseconds until the window is empty, milliseconds until a hit is allowed.
 */
const WINDOW = `
local ttl, limit, hits, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local steps = redis.call('LRANGE', KEYS[1], 0, -1)
local first, total = 1, 0
for i = 1, #steps, 2 do
  if steps[i] + ttl <= now then first = i + 2 else total = total + steps[i + 1] end
end
if first > 1 then redis.call('LTRIM', KEYS[1], first - 1, -1) end
local newest = first <= #steps and tonumber(steps[#steps - 1]) or nil
if total < limit and hits > 0 then
  total = total + hits
  if newest and now - newest < step then
    redis.call('LSET', KEYS[1], -1, steps[#steps] + hits)
  else
    redis.call('RPUSH', KEYS[1], now, hits)
    redis.call('PEXPIRE', KEYS[1], ttl)
    newest = now
  end
  return {1, total, newest + ttl - now, 0}
end
local left, free = total, now
for i = first, #steps, 2 do
  if left < limit then break end
  free = steps[i] + ttl
  left = left - steps[i + 1]
end
return {total < limit and 1 or 0, total, newest and newest + ttl - now or 0, free - now}
`;

interface WindowCommand {
  window(
    key: string,
    ttl: number,
    limit: number,
    hits: number,
    step: number,
  ): Promise<[number, number, number, number]>;
}

/** Connection to Redis. Each call ends within PATIENCE_MS, whatever the state of the server. */
export class RedisCounter {
  private readonly redis: Redis & WindowCommand;

  constructor(url: string) {
    const redis = new Redis(url, {
      keyPrefix: 'its:limit:',
      commandTimeout: PATIENCE_MS,
      connectTimeout: LONGEST_RETRY_MS,
      disconnectTimeout: PATIENCE_MS,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 100, LONGEST_RETRY_MS),
    });
    // Each command reports its own error. Without a listener the event would end the process.
    redis.on('error', () => undefined);
    redis.defineCommand('window', { numberOfKeys: 1, lua: WINDOW });
    this.redis = redis as Redis & WindowCommand;
  }

  /** Resolves when connected, or after START_PATIENCE_MS. */
  async connected(): Promise<void> {
    if (this.redis.status === 'ready') return;
    await once(this.redis, 'ready', { signal: AbortSignal.timeout(START_PATIENCE_MS) }).catch(
      () => undefined,
    );
  }

  async count(
    key: string,
    ttl: number,
    limit: number,
    name: string,
    hits: number,
  ): Promise<LimitRecord> {
    const [free, totalHits, emptyIn, freeIn] = await this.redis.window(
      `${name}:${key}`,
      ttl,
      limit,
      hits,
      ttl / STEPS,
    );
    return {
      totalHits,
      timeToExpire: emptyIn / 1000,
      isBlocked: free === 0,
      timeToBlockExpire: freeIn / 1000,
    };
  }

  /** For a connection that does not answer: TCP notices a silent loss late. */
  reconnect(): void {
    if (this.redis.status === 'ready') this.redis.disconnect(true);
  }

  close(): void {
    this.redis.disconnect();
  }
}

/** How long this replica counts locally before it asks Redis again. */
const PAUSE_MS = 1_000;

const PROBE_MS = 1_000;

/**
 * Counts in Redis for all replicas, and in this process: what is locally over the limit is rejected without asking
 * Redis, and while Redis is unavailable the local counts apply.
 */
export class SharedLimitStorage extends LimitStorage implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('RateLimits');
  private away = false;
  private askAgainAt = 0;

  constructor(
    private readonly redis: RedisCounter,
    private readonly local: MemoryLimitStorage,
  ) {
    super();
  }

  async increment(
    key: string,
    ttl: number,
    limit: number,
    _blockDuration: number,
    name: string,
    hits = 1,
  ): Promise<LimitRecord> {
    const known = this.local.look(key, ttl, limit, name);
    if (known.isBlocked) return known;
    const shared = await this.ask(key, ttl, limit, name, hits);
    if (shared?.isBlocked) return shared;
    const own = this.local.take(key, ttl, limit, name, hits);
    return shared ?? own;
  }

  async peek(key: string, ttl: number, limit: number, name: string): Promise<LimitRecord> {
    const known = this.local.look(key, ttl, limit, name);
    if (known.isBlocked) return known;
    return (await this.ask(key, ttl, limit, name, 0)) ?? known;
  }

  /** Writes a counter, because a full server or a standby still answers other commands. */
  async sharedWorks(): Promise<boolean> {
    return (await this.ask('probe', PROBE_MS, Number.MAX_SAFE_INTEGER, 'health', 1)) !== undefined;
  }

  onModuleInit(): Promise<void> {
    return this.redis.connected();
  }

  onModuleDestroy(): void {
    this.redis.close();
  }

  private async ask(
    key: string,
    ttl: number,
    limit: number,
    name: string,
    hits: number,
  ): Promise<LimitRecord | undefined> {
    if (performance.now() < this.askAgainAt) return undefined;
    // While Redis is unavailable, one request per pause tests it. Other requests do not wait.
    if (this.away) this.pause();
    try {
      const record = await this.redis.count(key, ttl, limit, name, hits);
      this.recovered();
      return record;
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  private failed(error: unknown): void {
    this.pause();
    if (this.away) {
      this.redis.reconnect();
      return;
    }
    this.away = true;
    this.logger.warn(
      `Redis does not count rate limits (${error instanceof Error ? error.message : 'unknown'}). Until it does, this replica counts locally.`,
    );
  }

  private recovered(): void {
    if (!this.away) return;
    this.away = false;
    this.askAgainAt = 0;
    this.logger.log('Redis counts rate limits again.');
  }

  private pause(): void {
    this.askAgainAt = performance.now() + PAUSE_MS;
  }
}
