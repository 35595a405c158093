import { Injectable } from '@nestjs/common';
import { countedNetworks } from '../addresses/network.js';
import { LimitStorage, wholeSeconds } from './limit-storage.js';

const MINUTE = 60_000;

/** Failures per minute and address, by kind. */
export const FAILURES_PER_MINUTE = {
  login: 10,
  key: 60,
  metrics_token: 60,
  webhook: 60,
} as const;
type FailureKind = keyof typeof FAILURES_PER_MINUTE | 'account';

/** Failures of one account from unknown addresses, however many addresses there are. */
const OF_ACCOUNT = [
  { name: 'failed_account', ttl: MINUTE, most: 10 },
  { name: 'failed_account_hour', ttl: 60 * MINUTE, most: 60 },
];

/**
 * Slows down guessing. Checked only after a failure (or before a password is hashed), so that a valid key, session or
 * signature is never rejected because of others at the same address.
 */
@Injectable()
export class FailureLimits {
  constructor(private readonly storage: LimitStorage) {}

  /** Returns the seconds until the address or account may retry; `undefined` if it may now. */
  async blocked(kind: FailureKind, subject: string): Promise<number | undefined> {
    for (const { name, key, ttl, most } of allowancesOf(kind, subject)) {
      const state = await this.storage.peek(key, ttl, most, name);
      if (state.isBlocked) return wholeSeconds(state.timeToExpire);
    }
    return undefined;
  }

  /**
   * Counts a failure. Over the limit, returns the seconds to wait. The caller then answers with them instead of the
   * error, so that parallel guesses reveal no more than sequential ones.
   */
  async record(kind: FailureKind, subject: string): Promise<number | undefined> {
    for (const { name, key, ttl, most } of allowancesOf(kind, subject)) {
      const state = await this.storage.increment(key, ttl, most, ttl, name);
      if (state.isBlocked) return wholeSeconds(state.timeToExpire);
    }
    return undefined;
  }
}

function allowancesOf(kind: FailureKind, subject: string) {
  if (kind === 'account') return OF_ACCOUNT.map((allowance) => ({ ...allowance, key: subject }));
  return countedNetworks(subject).map(({ name: key, share }) => ({
    name: `failed_${kind}`,
    key,
    ttl: MINUTE,
    most: share * FAILURES_PER_MINUTE[kind],
  }));
}
