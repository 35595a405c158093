import { Injectable } from '@nestjs/common';
import { UnavailableError } from '../../platform/errors/app-error.js';
import { WeakPasswordError } from '../auth.errors.js';
import { FairQueue, type Waiter } from '../../platform/concurrency/fair-queue.js';
import { COST, hashPassword, isOutdated, passwordMatches } from './password-hash.js';
import { weaknessOf } from './password-requirements.js';

/** Each takes 19 MiB, and one of the few threads that Node also uses for files and for looking up host names. */
const AT_A_TIME = 2;
/** So many are done in some ten seconds, which is the longest that somebody waits for a login. */
const MOST_WAITING_CHECKS = 300;

/** Stands in for the hash of a user who does not exist: of today's cost, and no password matches it. */
const HASH_OF_NOBODY = `$argon2id$v=19$m=${COST.m},t=${COST.t},p=${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** A password is set by somebody who is logged in, or by the service itself: no stranger makes them wait. */
const PASSWORD_SETTER: Waiter = { groups: [], preferred: true };

export interface WantedPassword {
  readonly username: string;
  readonly password: string;
  /** The field of the request that it came in. */
  readonly field: string;
}

/** Hashes passwords and compares them with hashes, two at a time and in a fair order. */
@Injectable()
export class Passwords {
  private readonly queue = new FairQueue(
    AT_A_TIME,
    MOST_WAITING_CHECKS,
    () => new UnavailableError('Too many passwords are being checked.'),
  );

  hash(password: string): Promise<string> {
    return this.queue.run(PASSWORD_SETTER, () => hashPassword(password));
  }

  /** For a password that somebody chose: a weak one is refused. */
  async hashChosen({ username, password, field }: WantedPassword): Promise<string> {
    const weakness = await weaknessOf(password, username);
    if (weakness !== undefined) throw new WeakPasswordError(field, weakness);
    return await this.hash(password);
  }

  /** Runs `attempt` when it is its turn. Until then the limits of the guesser may have been used up: it looks again. */
  inTurn<T>(
    guesser: Waiter,
    attempt: (matches: (password: string, stored?: string) => Promise<boolean>) => Promise<T>,
  ): Promise<T> {
    return this.queue.run(guesser, () => attempt(matches));
  }

  /** The hash to store instead, when the password was right and the stored hash is of another cost. */
  async renewed(password: string, stored: string): Promise<string | undefined> {
    return isOutdated(stored) ? await this.hash(password) : undefined;
  }
}

/** Takes the same time when there is no hash to compare with. */
async function matches(password: string, stored?: string): Promise<boolean> {
  const equal = await passwordMatches(password, stored ?? HASH_OF_NOBODY);
  return equal && stored !== undefined;
}
