import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { LimitRecord } from './limit-storage.js';

/** A limit that waits for its counter is worse than one that counts for itself. */
const PATIENCE_MS = 75;
const START_PATIENCE_MS = 1_000;
const LONGEST_RETRY_MS = 2_000;
const STEPS = 60;

/**
 * The sliding window (see SlidingWindow) as one atomic script: a list of start, count, start, count … by the clock of
 * Redis, which all replicas share. Answers taken or not, hits, and the milliseconds until all and until one is free.
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

/** The connection to Redis: every call answers or fails within the patience, whatever has become of the server. */
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
    // Whoever counts gets the error of its own command; without a listener the event would end the process.
    redis.on('error', () => undefined);
    redis.defineCommand('window', { numberOfKeys: 1, lua: WINDOW });
    this.redis = redis as Redis & WindowCommand;
  }

  /** Resolves once connected, or when it has been waited for long enough. */
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

  /** For a connection that does not answer: if its other end vanished without a word, TCP takes long to notice. */
  reconnect(): void {
    if (this.redis.status === 'ready') this.redis.disconnect(true);
  }

  close(): void {
    this.redis.disconnect();
  }
}
