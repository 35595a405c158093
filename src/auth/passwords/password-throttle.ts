import { Injectable } from '@nestjs/common';
import { countedNetworks, isLoopback, networkOf } from '../../platform/addresses/network.js';
import { FailureLimits } from '../../platform/limits/failure-limits.js';
import { AccountThrottledError, TooManyFailuresError } from '../auth.errors.js';
import { Refusals } from '../refusals/refusals.js';
import type { Waiter } from '../../platform/concurrency/fair-queue.js';
import { Passwords } from './passwords.js';

export interface PasswordGuess {
  readonly address: string;
  /** What guesses from strange addresses are counted by, whether or not there is such a user. */
  readonly account: string;
  /** Whether the user logged in from the network of the address before. */
  readonly fromKnownNetwork: boolean;
  readonly password: string;
  /** Absent where there is no such user: it takes the same time. */
  readonly storedHash?: string;
  /** Whether the right password counts at all: not for a disabled user. */
  readonly mayLogIn: boolean;
  /** For the audit record; undefined when there is no such user. */
  readonly username: string | undefined;
}

/**
 * Checks a password for a stranger. So many failures are let pass per address, and per account from addresses that its
 * user has not logged in from: guessing is slow from however many addresses, and its owner gets in all the while.
 */
@Injectable()
export class PasswordThrottle {
  constructor(
    private readonly passwords: Passwords,
    private readonly failures: FailureLimits,
    private readonly refusals: Refusals,
  ) {}

  /** Throws when the address or the account has had its share of failures, whatever the guess is. */
  async verifyPassword(guess: PasswordGuess): Promise<boolean> {
    await this.requireUnblocked(guess);
    return await this.passwords.inTurn(waiterOf(guess), async (matches) => {
      // Again, because guesses made all at once would otherwise all be let in before the first has failed.
      await this.requireUnblocked(guess);
      const right = await matches(guess.password, guess.storedHash);
      if (right && guess.mayLogIn) return true;
      await this.fail(guess, right);
      return false;
    });
  }

  private async requireUnblocked(guess: PasswordGuess): Promise<void> {
    this.refuseAddress(guess, await this.failures.blocked('login', guess.address));
    if (isTrustedAddress(guess)) return;
    this.refuseAccount(guess, await this.failures.accountBlocked(guess.account));
  }

  private async fail(guess: PasswordGuess, right: boolean): Promise<void> {
    const { address, username, storedHash } = guess;
    this.refuseAddress(guess, await this.failures.record('login', address));
    if (!isTrustedAddress(guess)) {
      this.refuseAccount(guess, await this.failures.recordForAccount(guess.account));
    }
    const reason = right
      ? 'disabled'
      : storedHash === undefined
        ? 'unknown_user'
        : 'wrong_password';
    await this.refusals.login(address, username, reason);
  }

  private refuseAddress({ address }: PasswordGuess, wait: number | undefined): void {
    if (wait === undefined) return;
    this.refusals.loginLimit(address);
    throw new TooManyFailuresError('wrong passwords', wait);
  }

  private refuseAccount({ username }: PasswordGuess, wait: number | undefined): void {
    if (wait === undefined) return;
    this.refusals.accountLimit(username);
    throw new AccountThrottledError(wait);
  }
}

/** Whoever is at the machine itself gets in too: for the owner who has not logged in from anywhere yet. */
function isTrustedAddress({ fromKnownNetwork, address }: PasswordGuess): boolean {
  return fromKnownNetwork || isLoopback(address);
}

/** Guesses at one account share a turn, save those of its owner. */
function waiterOf(guess: PasswordGuess): Waiter {
  const { address, account } = guess;
  if (isTrustedAddress(guess))
    return { groups: [`${account} at ${networkOf(address)}`], preferred: true };
  const networks = countedNetworks(address).map(({ name }) => `network ${name}`);
  return { groups: [...networks, `account ${account}`], preferred: false };
}
