import { Injectable } from '@nestjs/common';
import { countedNetworks } from '../addresses/network.js';
import { type LimitRecord, LimitStorage, wholeSeconds } from './limit-storage.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Failures per minute and address, by kind. */
export const FAILURES_PER_MINUTE = {
  login: 10,
  key: 60,
  metrics_token: 60,
  webhook: 60,
} as const;
type FailureKind = keyof typeof FAILURES_PER_MINUTE;

/** Failures of one account from unknown addresses, however many addresses there are. */
const ACCOUNT_FAILURES = [
  { name: 'failed_account', ttl: MINUTE, most: 10 },
  { name: 'failed_account_hour', ttl: HOUR, most: 60 },
] as const;

/** Maximum number of failures within a window. */
interface Allowance {
  readonly name: string;
  readonly key: string;
  readonly ttl: number;
  readonly most: number;
}

/**
 * Slows down guessing. Checked only after a failure (or before a password is hashed), so that a valid key, session or
 * signature is never rejected because of others at the same address.
 */
@Injectable()
export class FailureLimits {
  constructor(private readonly storage: LimitStorage) {}

  /** Returns the seconds until the address may retry; `undefined` if it may now. */
  blocked(kind: FailureKind, address: string): Promise<number | undefined> {
    return this.waitOf(ofAddress(kind, address), this.look);
  }

  /**
   * Counts a failure. Over the limit, returns the seconds to wait. The caller then answers with them instead of the
   * error, so that parallel guesses reveal no more than sequential ones.
   */
  record(kind: FailureKind, address: string): Promise<number | undefined> {
    return this.waitOf(ofAddress(kind, address), this.count);
  }

  /** Like `blocked`, for an account. */
  accountBlocked(account: string): Promise<number | undefined> {
    return this.waitOf(ofAccount(account), this.look);
  }

  /** Like `record`, for an account. */
  recordForAccount(account: string): Promise<number | undefined> {
    return this.waitOf(ofAccount(account), this.count);
  }

  private readonly look = ({ key, ttl, most, name }: Allowance) =>
    this.storage.peek(key, ttl, most, name);
  private readonly count = ({ key, ttl, most, name }: Allowance) =>
    this.storage.increment(key, ttl, most, ttl, name);

  private async waitOf(
    allowances: readonly Allowance[],
    ask: (allowance: Allowance) => Promise<LimitRecord>,
  ): Promise<number | undefined> {
    for (const allowance of allowances) {
      const state = await ask(allowance);
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
