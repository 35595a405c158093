import { Injectable } from '@nestjs/common';
import { FailureLimits } from '../../limits/failure-limits.js';
import { TooManyFailuresError } from '../auth.errors.js';
import { Refusals } from '../refusals/refusals.js';
import { Passwords } from './passwords.js';

export interface Guess {
  readonly address: string;
  readonly password: string;
  /** Absent where there is no such user: it takes the same time. */
  readonly stored?: string;
  /** Whether the right password counts at all: not for a disabled user. */
  readonly mayPass: boolean;
  /** For the audit record; undefined when there is no such user. */
  readonly username: string | undefined;
}

/** Checks a password for a stranger: so many failures per minute and address, each of them recorded. */
@Injectable()
export class GuardedCheck {
  constructor(
    private readonly passwords: Passwords,
    private readonly failures: FailureLimits,
    private readonly refusals: Refusals,
  ) {}

  /** Throws when the address has had its share of failures, whatever the guess is. */
  async passes(guess: Guess): Promise<boolean> {
    await this.requireUnblocked(guess.address);
    return await this.passwords.inTurn(async (matches) => {
      // Again, because guesses made all at once would otherwise all be let in before the first has failed.
      await this.requireUnblocked(guess.address);
      const right = await matches(guess.password, guess.stored);
      if (right && guess.mayPass) return true;
      await this.fail(guess, right);
      return false;
    });
  }

  private async requireUnblocked(address: string): Promise<void> {
    const wait = await this.failures.blocked('login', address);
    if (wait !== undefined) this.refuse(address, wait);
  }

  private async fail({ address, username, stored }: Guess, right: boolean): Promise<void> {
    const wait = await this.failures.record('login', address);
    if (wait !== undefined) this.refuse(address, wait);
    const reason = right ? 'disabled' : stored === undefined ? 'unknown_user' : 'wrong_password';
    await this.refusals.login(address, username, reason);
  }

  private refuse(address: string, wait: number): never {
    this.refusals.loginLimit(address);
    throw new TooManyFailuresError('failed logins', wait);
  }
}
