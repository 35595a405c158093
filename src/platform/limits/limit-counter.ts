import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { countedNetworks } from '../addresses/network.js';
import { wholeSeconds } from './failure-limits.js';
import { type LimitRecord, LimitStorage } from './limit-storage.js';
import type { NamedLimit } from './limited.js';
import { presentTime } from '../clock.js';

const MINUTE = 60_000;

/** Charges a request to a limit. For guards: RateLimitGuard, and those that know better than it who is to be charged. */
@Injectable()
export class LimitCounter {
  constructor(private readonly storage: LimitStorage) {}

  /** Sets the three headers, and refuses what is over the limit. A limit of 0 is none. */
  async charge({ name, perMinute }: NamedLimit, key: string, reply: FastifyReply): Promise<void> {
    if (perMinute === 0) return;
    const state = await this.storage.increment(key, MINUTE, perMinute, MINUTE, name);
    void reply.headers(headersOf(perMinute, state));
    if (state.isBlocked) throw refusal(perMinute, state);
  }

  /** Charges hits that follow from one that was let through, such as further events of a body. Refuses nothing. */
  async add({ name, perMinute }: NamedLimit, key: string, hits: number): Promise<void> {
    if (perMinute === 0 || hits === 0) return;
    await this.storage.increment(key, MINUTE, Number.MAX_SAFE_INTEGER, MINUTE, name, hits);
  }

  /**
   * For what may be repeated by somebody else than its sender: counts the repetitions of one message within a minute, and
   * refuses what is over the limit. True when this is the first.
   */
  async isFirst({ name, perMinute }: NamedLimit, message: string): Promise<boolean> {
    const state = await this.storage.increment(message, MINUTE, perMinute, MINUTE, name);
    if (state.isBlocked) throw refusal(perMinute, state);
    return state.totalHits === 1;
  }

  /** The same where nobody in particular is known. The headers tell of the address, or of the wider network that is full. */
  async chargeAddress(limit: NamedLimit, address: string, reply: FastifyReply): Promise<void> {
    const [own, ...wider] = countedNetworks(address);
    await this.charge(limit, `address ${own.name}`, reply);
    for (const { name, share } of wider) {
      const perMinute = limit.perMinute * share;
      const key = `address ${name}`;
      const state = await this.storage.increment(key, MINUTE, perMinute, MINUTE, limit.name);
      if (!state.isBlocked) continue;
      void reply.headers(headersOf(perMinute, state));
      throw refusal(perMinute, state);
    }
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
    `No more than ${perMinute} of these requests per minute are allowed; try again in ${seconds} s.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
