import { Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type LimitRecord, LimitStorage } from './limit-storage.js';
import type { MemoryLimitStorage } from './memory-limit-storage.js';
import type { RedisCounter } from './redis-counter.js';

/** How long this replica counts for itself before it asks Redis again. */
const PAUSE_MS = 1_000;

const PROBE_MS = 1_000;

/**
 * Counts for all replicas in Redis, and beside it in this process: what this replica knows to be over the limit is
 * refused without asking, and when Redis is away the count goes on from what this replica has seen.
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

  /** Counts something, because a server that is full or a standby still answers everything else. */
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
    // While Redis is away one request in each pause finds out whether it is back; the others do not wait with it.
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
      `Redis does not count rate limits (${error instanceof Error ? error.message : 'unknown'}): until it does, this replica counts for itself.`,
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
