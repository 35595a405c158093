import { Injectable } from '@nestjs/common';
import { COST, hashPassword, isOutdated, passwordMatches } from './password-hash.js';
import { Slots } from './slots.js';

/** Each takes 19 MiB and a thread of the four that files and name look-ups share. */
const AT_A_TIME = 2;
const MOST_WAITING = 100;

/** What a password is compared with where there is none: of today's cost, and matched by nothing. */
const NOBODY = `$argon2id$v=19$m=${COST.m},t=${COST.t},p=${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

@Injectable()
export class Passwords {
  private readonly slots = new Slots(AT_A_TIME, MOST_WAITING);

  hash(password: string): Promise<string> {
    return this.slots.run(() => hashPassword(password));
  }

  /**
   * Runs the check in its turn, so that `attempt` can look, at the last moment before the guess counts, whether the
   * guesser has had enough.
   */
  inTurn<T>(
    attempt: (matches: (password: string, stored?: string) => Promise<boolean>) => Promise<T>,
  ) {
    return this.slots.run(() => attempt(matches));
  }

  /** The hash to store after a successful check, when the stored one is of another cost. */
  async renewed(password: string, stored: string): Promise<string | undefined> {
    return isOutdated(stored) ? await this.hash(password) : undefined;
  }
}

/** Takes the same time whether or not there is a hash to compare with. */
async function matches(password: string, stored?: string): Promise<boolean> {
  const equal = await passwordMatches(password, stored ?? NOBODY);
  return equal && stored !== undefined;
}
