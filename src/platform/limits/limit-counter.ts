import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { countedNetworks } from '../addresses/network.js';
import { wholeSeconds } from './failure-limits.js';
import { type LimitRecord, LimitStorage } from './limit-storage.js';
import { presentTime } from '../clock.js';

const MINUTE = 60_000;

/** A limit besides the three classes, counted separately by its name. */
export interface NamedLimit {
  readonly name: string;
  readonly perMinute: number;
}

/** Charges requests to limits. For RateLimitGuard, and for guards that determine the charged key themselves. */
@Injectable()
export class LimitCounter {
  constructor(private readonly storage: LimitStorage) {}

  /** Sets the rate-limit headers, and rejects a request over the limit. 0 means no limit. */
  async charge({ name, perMinute }: NamedLimit, key: string, reply: FastifyReply): Promise<void> {
    if (perMinute === 0) return;
    const state = await this.storage.increment(key, MINUTE, perMinute, MINUTE, name);
    void reply.headers(headersOf(perMinute, state));
    if (state.isBlocked) throw refusal(perMinute, state);
  }

  /** Charges further hits of an accepted request, such as the events of a body. Never rejects. */
  async add({ name, perMinute }: NamedLimit, key: string, hits: number): Promise<void> {
    if (perMinute === 0 || hits === 0) return;
    await this.storage.increment(key, MINUTE, Number.MAX_SAFE_INTEGER, MINUTE, name, hits);
  }

  /**
   * Counts the repetitions of one message within a minute and rejects those over the limit: a third party may replay
   * it. Returns true for the first.
   */
  async isFirst({ name, perMinute }: NamedLimit, message: string): Promise<boolean> {
    const state = await this.storage.increment(message, MINUTE, perMinute, MINUTE, name);
    if (state.isBlocked) throw refusal(perMinute, state);
    return state.totalHits === 1;
  }

  /**
   * Charges a request without a principal to the networks of its address. The headers show the limit of its own
   * network, or of the wider network that is full. A request that the wider network rejects is not counted.
   */
  async chargeAddress(limit: NamedLimit, address: string, reply: FastifyReply): Promise<void> {
    const [own, ...wider] = countedNetworks(address).map(({ name, share }) => ({
      key: `address ${name}`,
      perMinute: limit.perMinute * share,
    }));
    for (const { key, perMinute } of wider) {
      const state = await this.storage.peek(key, MINUTE, perMinute, limit.name);
      if (!state.isBlocked) continue;
      void reply.headers(headersOf(perMinute, state));
      throw refusal(perMinute, state);
    }
    await this.charge(limit, own!.key, reply);
    for (const { key } of wider) await this.add(limit, key, 1);
  }
}

function headersOf(perMinute: number, { totalHits, timeToExpire }: LimitRecord) {
  return {
    'x-ratelimit-limit': String(perMinute),
    'x-ratelimit-remaining': String(Math.max(0, perMinute - totalHits)),
    'x-ratelimit-reset': String(Math.ceil(presentTime() / 1000 + timeToExpire)),
  };
}

function refusal(perMinute: number, { timeToBlockExpire }: LimitRecord): AppError {
  const seconds = wholeSeconds(timeToBlockExpire);
  return new AppError(
    'rate_limited',
    `At most ${perMinute} of these requests are allowed per minute. Retry in ${seconds} s.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
