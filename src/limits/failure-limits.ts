import { Injectable } from '@nestjs/common';
import { type CountedNetwork, countedNetworks } from '../common/net/network.js';
import { type LimitRecord, LimitStorage } from './limit-storage.js';

const MINUTE = 60_000;

/** How many failures of a kind one address may have per minute before it is told to wait. */
export const FAILURES_PER_MINUTE = { login: 10, key: 60, webhook: 60 } as const;
export type FailureKind = keyof typeof FAILURES_PER_MINUTE;

/**
 * Slows down guessing. Asked only once something has failed (or before a password is hashed), so that whoever brings a
 * valid key, session or signature is never refused for what others did from the same address.
 */
@Injectable()
export class FailureLimits {
  constructor(private readonly storage: LimitStorage) {}

  /** Whole seconds until the address may try again; undefined when it may now. */
  async blocked(kind: FailureKind, address: string): Promise<number | undefined> {
    return await this.firstRefusal(address, ({ name, share }) =>
      this.storage.peek(name, MINUTE, share * FAILURES_PER_MINUTE[kind], `failed_${kind}`),
    );
  }

  /**
   * Counts a failure. When the address has had its share, answers how long it has to wait: to be told instead of what
   * was wrong, so that guesses made all at once learn no more than guesses made one by one.
   */
  async record(kind: FailureKind, address: string): Promise<number | undefined> {
    return await this.firstRefusal(address, ({ name, share }) =>
      this.storage.increment(
        name,
        MINUTE,
        share * FAILURES_PER_MINUTE[kind],
        MINUTE,
        `failed_${kind}`,
      ),
    );
  }

  private async firstRefusal(
    address: string,
    count: (network: CountedNetwork) => Promise<LimitRecord>,
  ): Promise<number | undefined> {
    for (const network of countedNetworks(address)) {
      const state = await count(network);
      if (state.isBlocked) return wholeSeconds(state.timeToBlockExpire);
    }
    return undefined;
  }
}

export function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}
