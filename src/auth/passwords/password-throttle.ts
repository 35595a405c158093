import { Injectable } from '@nestjs/common';
import { countedNetworks, isLoopback, networkOf } from '../../platform/addresses/network.js';
import { FailureLimits } from '../../platform/limits/failure-limits.js';
import { AccountThrottledError, TooManyFailuresError } from '../auth.errors.js';
import { Refusals } from '../refusals/refusals.js';
import type { Waiter } from '../../platform/concurrency/fair-queue.js';
import { Passwords } from './passwords.js';

export interface PasswordGuess {
  readonly address: string;
  /** Failures from networks that are not known are counted under this name, also when there is no such user. */
  readonly account: string;
  /** Whether the user has logged in from the network of the address before. */
  readonly fromKnownNetwork: boolean;
  readonly password: string;
  /** Undefined when there is no such user: the check takes the same time. */
  readonly storedHash?: string;
  /** False for a disabled user: the right password counts as a failure. */
  readonly mayLogIn: boolean;
  /** For the audit record; undefined when there is no such user. */
  readonly username: string | undefined;
}

/**
 * Checks passwords, and slows down whoever guesses: there is a limit to the failures of an address, and one to the
 * failures of an account from networks that its user has not logged in from. Guessing is slow from however many addresses,
 * and the owner of the account still gets in. See docs/adr/0018.
 */
@Injectable()
export class PasswordThrottle {
  constructor(
    private readonly passwords: Passwords,
    private readonly failures: FailureLimits,
    private readonly refusals: Refusals,
  ) {}

  /** Throws when the address or the account has reached its limit, also when the password is right. */
  async verifyPassword(guess: PasswordGuess): Promise<boolean> {
    await this.requireUnblocked(guess);
    return await this.passwords.inTurn(waiterOf(guess), async (matches) => {
      // Asked again: guesses that arrive together all pass the first question, before one of them has failed.
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

/** The loopback counts as known: an owner who has not logged in from anywhere yet gets in from the machine itself. */
function isTrustedAddress({ fromKnownNetwork, address }: PasswordGuess): boolean {
  return fromKnownNetwork || isLoopback(address);
}

/** All who guess at one account share a turn, except its owner. */
function waiterOf(guess: PasswordGuess): Waiter {
  const { address, account } = guess;
  if (isTrustedAddress(guess))
    return { groups: [`${account} at ${networkOf(address)}`], preferred: true };
  const networks = countedNetworks(address).map(({ name }) => `network ${name}`);
  return { groups: [...networks, `account ${account}`], preferred: false };
}
