import { Injectable } from '@nestjs/common';
import { isLoopback } from '../../platform/addresses/network.js';
import { FailureLimits } from '../../platform/limits/failure-limits.js';
import { AppError } from '../../platform/errors/app-error.js';
import { TooManyFailuresError } from '../auth.errors.js';
import { Refusals } from '../refusals/refusals.js';
import type { LoginUser } from '../users/user.entity.js';
import { Passwords } from './passwords.js';

interface PasswordGuess {
  readonly address: string;
  /** Name under which failures from unknown networks are counted, even if the user does not exist. */
  readonly account: string;
  readonly password: string;
  /** `undefined` if the user does not exist: the check takes the same time. */
  readonly user: LoginUser | undefined;
}

/**
 * Verifies passwords and slows down guessing. Failures are limited per address, and per account for networks from which
 * its user has not logged in. So guessing is slow from any number of addresses, and the owner can still log in. See
 * docs/adr/0008.
 */
@Injectable()
export class PasswordThrottle {
  constructor(
    private readonly passwords: Passwords,
    private readonly failures: FailureLimits,
    private readonly refusals: Refusals,
  ) {}

  /** Throws if the address or the account has reached its limit, even if the password is right. */
  async verifyPassword(guess: PasswordGuess): Promise<boolean> {
    await this.requireUnblocked(guess);
    return await this.passwords.inTurn(
      async (matches) => {
        // Checked again: concurrent guesses all pass the first check before one of them fails.
        await this.requireUnblocked(guess);
        const right = await matches(guess.password, guess.user?.password_hash ?? undefined);
        // The right password of a disabled user counts as a failure.
        if (right && guess.user?.enabled) return true;
        await this.fail(guess, right);
        return false;
      },
      { isPreferred: isTrustedAddress(guess) },
    );
  }

  private async requireUnblocked(guess: PasswordGuess): Promise<void> {
    this.refuseAddress(guess, await this.failures.blocked('login', guess.address));
    if (isTrustedAddress(guess)) return;
    this.refuseAccount(guess, await this.failures.accountBlocked(guess.account));
  }

  private async fail(guess: PasswordGuess, right: boolean): Promise<void> {
    const { address, user } = guess;
    this.refuseAddress(guess, await this.failures.record('login', address));
    if (!isTrustedAddress(guess)) {
      this.refuseAccount(guess, await this.failures.recordForAccount(guess.account));
    }
    const wrong = user?.password_hash ? 'wrong_password' : 'unknown_user';
    await this.refusals.login(address, user?.username, right ? 'disabled' : wrong);
  }

  private refuseAddress({ address }: PasswordGuess, wait: number | undefined): void {
    if (wait === undefined) return;
    this.refusals.ofStranger({ action: 'auth.login_limited' }, address);
    throw new TooManyFailuresError('wrong passwords', wait);
  }

  private refuseAccount({ user }: PasswordGuess, wait: number | undefined): void {
    if (wait === undefined) return;
    this.refusals.accountLimit(user?.username);
    throw new AppError(
      'rate_limited',
      'Too many wrong passwords for this user from new addresses. Try again later, or from an address of an earlier login.',
      { headers: { 'retry-after': String(wait) } },
    );
  }
}

/** The loopback address counts as known, so that an owner can log in from the machine itself before any other login. */
function isTrustedAddress({ user, address }: PasswordGuess): boolean {
  return user?.known === true || isLoopback(address);
}
