import { Injectable } from '@nestjs/common';
import { WeakPasswordError } from '../auth.errors.js';
import { FairQueue, type Waiter } from '../../platform/concurrency/fair-queue.js';
import { COST, hashPassword, isOutdated, passwordMatches } from './password-hash.js';
import { weaknessOf } from './password-strength.js';

/** Each takes 19 MiB and a thread of the four that files and name look-ups share. */
const AT_A_TIME = 2;
/** What is done in some ten seconds: longer than that nobody waits for a login. */
const MOST_WAITING_CHECKS = 300;

/** What a password is compared with where there is none: of today's cost, and matched by nothing. */
const HASH_OF_NOBODY = `$argon2id$v=19$m=${COST.m},t=${COST.t},p=${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Who sets a password is logged in, an admin or the service itself, and shares its turn with nobody. */
const PASSWORD_SETTER: Waiter = { groups: [], preferred: true };

export interface WantedPassword {
  readonly username: string;
  readonly password: string;
  /** The field of the request that it came in. */
  readonly field: string;
}

@Injectable()
export class Passwords {
  private readonly queue = new FairQueue(AT_A_TIME, MOST_WAITING_CHECKS);

  hash(password: string): Promise<string> {
    return this.queue.run(PASSWORD_SETTER, () => hashPassword(password));
  }

  /** For what somebody chose: a weak one is refused. */
  async hashChosen({ username, password, field }: WantedPassword): Promise<string> {
    const weakness = await weaknessOf(password, username);
    if (weakness !== undefined) throw new WeakPasswordError(field, weakness);
    return await this.hash(password);
  }

  /**
   * Runs the check in its turn, so that `attempt` can look, at the last moment before the guess counts, whether the
   * guesser has had enough.
   */
  inTurn<T>(
    guesser: Waiter,
    attempt: (matches: (password: string, stored?: string) => Promise<boolean>) => Promise<T>,
  ): Promise<T> {
    return this.queue.run(guesser, () => attempt(matches));
  }

  /** The hash to store after a successful check, when the stored one is of another cost. */
  async renewed(password: string, stored: string): Promise<string | undefined> {
    return isOutdated(stored) ? await this.hash(password) : undefined;
  }
}

/** Takes the same time whether or not there is a hash to compare with. */
async function matches(password: string, stored?: string): Promise<boolean> {
  const equal = await passwordMatches(password, stored ?? HASH_OF_NOBODY);
  return equal && stored !== undefined;
}
