import { Injectable } from '@nestjs/common';
import { countedNetworks } from '../addresses/network.js';
import { LimitStorage } from './limit-storage.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** How many failures of a kind one address may have per minute before it is told to wait. */
export const FAILURES_PER_MINUTE = {
  login: 10,
  key: 60,
  metrics_token: 60,
  webhook: 60,
} as const;
export type FailureKind = keyof typeof FAILURES_PER_MINUTE;

/** How many failures one account may have from addresses that are new to it, however many addresses there are. */
const ACCOUNT_FAILURES = [
  { name: 'failed_account', ttl: MINUTE, most: 10 },
  { name: 'failed_account_hour', ttl: HOUR, most: 60 },
] as const;

/** So many failures of somebody within a time. */
interface Allowance {
  readonly name: string;
  readonly key: string;
  readonly ttl: number;
  readonly most: number;
}

/**
 * Slows down guessing. Asked only once something has failed (or before a password is hashed), so that whoever brings a
 * valid key, session or signature is never refused for what others did from the same address.
 */
@Injectable()
export class FailureLimits {
  constructor(private readonly storage: LimitStorage) {}

  /** Whole seconds until the address may try again; undefined when it may now. */
  blocked(kind: FailureKind, address: string): Promise<number | undefined> {
    return this.look(ofAddress(kind, address));
  }

  /**
   * Counts a failure. When the address has had its share, answers how long it has to wait: to be told instead of what
   * was wrong, so that guesses made all at once learn no more than guesses made one by one.
   */
  record(kind: FailureKind, address: string): Promise<number | undefined> {
    return this.take(ofAddress(kind, address));
  }

  /** Like `blocked`, for an account that strangers guess at. */
  accountBlocked(account: string): Promise<number | undefined> {
    return this.look(ofAccount(account));
  }

  /** Like `record`, for an account that strangers guess at. */
  recordForAccount(account: string): Promise<number | undefined> {
    return this.take(ofAccount(account));
  }

  private async look(allowances: readonly Allowance[]): Promise<number | undefined> {
    for (const { name, key, ttl, most } of allowances) {
      const state = await this.storage.peek(key, ttl, most, name);
      if (state.isBlocked) return wholeSeconds(state.timeToBlockExpire);
    }
    return undefined;
  }

  private async take(allowances: readonly Allowance[]): Promise<number | undefined> {
    for (const { name, key, ttl, most } of allowances) {
      const state = await this.storage.increment(key, ttl, most, ttl, name);
      if (state.isBlocked) return wholeSeconds(state.timeToBlockExpire);
    }
    return undefined;
  }
}

function ofAddress(kind: FailureKind, address: string): Allowance[] {
  return countedNetworks(address).map((network) => ({
    name: `failed_${kind}`,
    key: network.name,
    ttl: MINUTE,
    most: network.share * FAILURES_PER_MINUTE[kind],
  }));
}

function ofAccount(key: string): Allowance[] {
  return ACCOUNT_FAILURES.map((allowance) => ({ ...allowance, key }));
}

export function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}
