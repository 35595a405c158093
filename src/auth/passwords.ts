import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { isLoopback } from '../platform/addresses/network.js';
import { Semaphore } from '../platform/concurrency/semaphore.js';
import { AppError, UnavailableError } from '../platform/errors/app-error.js';
import { FailureLimits } from '../platform/limits/limits.js';
import type { UserEntity } from './auth.entity.js';
import { Refusals } from './refusals.js';

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

/** zxcvbn calls this score "safely unguessable": guessing takes more than 10^8 attempts. */
const GOOD_SCORE = 3;
/** Only these characters are checked: the check is slow, and a password with a strong beginning is strong. */
const JUDGED_CHARACTERS = 48;
const MOST_SUBSTITUTIONS = 16;
const SHORTEST_NAME_PART = 3;
const SITE_WORDS = ['incident', 'triage', 'service', 'security', 'soc', 'response', 'alert'];
const LEAST_BESIDE_WORDS = 8;

/** Keyboards encode the same password differently, for example an accented letter as one or two code points. */
const normalised = (password: string): string => password.normalize('NFKC');

/** Counts visible characters, not UTF-16 units. */
export function hasPermittedLength(password: unknown): password is string {
  if (typeof password !== 'string' || password.length > 4 * LONGEST_PASSWORD) return false;
  const length = [...normalised(password)].length;
  return length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD;
}

/** Loads the dictionary at its first use: it takes about 25 MB of memory, and most replicas never need it. */
let zxcvbn: Promise<ZxcvbnFactory> | undefined;

async function loadZxcvbn(): Promise<ZxcvbnFactory> {
  const core = await import('@zxcvbn-ts/core');
  const { adjacencyGraphs: graphs, dictionary } = await import('@zxcvbn-ts/language-common');
  const bounds = { maxLength: JUDGED_CHARACTERS, l33tMaxSubstitutions: MOST_SUBSTITUTIONS };
  return new core.ZxcvbnFactory({ dictionary, graphs, ...bounds });
}

/** @param field name of the password in the error */
export async function requireStrong(password: string, username: string, field = 'password') {
  const text = normalised(password);
  const nameWords = [username, ...username.split(/[._@-]+/)].filter(
    (word) => word.length >= SHORTEST_NAME_PART,
  );
  const words = [...nameWords, ...SITE_WORDS];
  const rest = words.reduce((left, word) => left.replaceAll(word, ''), text.toLowerCase());
  zxcvbn ??= loadZxcvbn();
  const { score } = (await zxcvbn).check(text, nameWords);
  if (rest.length >= LEAST_BESIDE_WORDS && score >= GOOD_SCORE) return;
  const message = `${field} is too easy to guess: it is a common password, or consists of common words and patterns, words of this service or the user name.`;
  const errors = [{ field, code: 'weak_password', message }];
  throw new AppError('weak_password', message, { details: { errors } });
}

export const generatePassword = (): string => randomBytes(18).toString('base64url');

/** OWASP recommendation for Argon2id. One hash takes about 60 ms on a CPU core of 2026. */
const COST = { m: 19_456, t: 2, p: 1 };

const PREFIX = `$argon2id$v=19$m=${COST.m},t=${COST.t},p=${COST.p}`;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,})\$([A-Za-z0-9+/]{43})$/;

/** Returns the hash in PHC format, which includes the cost: memory in KiB, passes, lanes. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const parts = [salt, await derive(password, salt, COST)];
  const texts = parts.map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return [PREFIX, ...texts].join('$');
}

export async function passwordMatches(password: string, stored: string): Promise<boolean> {
  const parts = PHC.exec(stored);
  if (!parts) throw new Error('A stored password hash does not have the expected form.');
  const [, m, t, p, salt, hash] = parts;
  const cost = { m: Number(m), t: Number(t), p: Number(p) };
  const made = await derive(password, Buffer.from(salt!, 'base64'), cost);
  return timingSafeEqual(made, Buffer.from(hash!, 'base64'));
}

function derive(password: string, nonce: Buffer, { m, t, p }: typeof COST): Promise<Buffer> {
  const message = Buffer.from(normalised(password));
  const cost = { memory: m, passes: t, parallelism: p, tagLength: HASH_BYTES };
  return new Promise((resolve, reject) => {
    argon2('argon2id', { message, nonce, ...cost }, (error, made) =>
      error ? reject(error) : resolve(made),
    );
  });
}

/** Maximum concurrent checks. Each takes 19 MiB and one of the few threads that Node also uses for files and DNS. */
const AT_A_TIME = 2;
/** Maximum waiting checks: about 10 s of work, which is the longest acceptable wait for a login. */
const MOST_WAITING_CHECKS = 300;

/** Hash to compare with the password of an unknown user. It has the current cost, and no password matches it. */
const HASH_OF_NOBODY = `${PREFIX}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

export interface LoginUser extends UserEntity {
  /** True if this user has logged in from this network before. */
  readonly known: boolean;
}

interface PasswordGuess {
  readonly address: string;
  /** Name under which failures from unknown networks are counted, even if no user has this name. */
  readonly account: string;
  readonly password: string;
  /** `undefined` if the user does not exist. The check takes the same time in that case. */
  readonly user: LoginUser | undefined;
}

/** Limits failures per address, and failures per account from networks new to the user: see docs/adr/0008. */
@Injectable()
export class Passwords {
  private readonly places = new Semaphore(AT_A_TIME, {
    most: MOST_WAITING_CHECKS,
    error: () => new UnavailableError('Too many passwords are being checked.'),
  });

  constructor(
    private readonly failures: FailureLimits,
    private readonly refusals: Refusals,
  ) {}

  /** Goes before waiting login checks, so that strangers cannot delay logged-in users. `field` is the request field. */
  async hashChosen(username: string, password: string, field = 'password'): Promise<string> {
    await requireStrong(password, username, field);
    return await this.places.run(() => hashPassword(password), { isPreferred: true });
  }

  /** Throws if the address or the account has reached its limit, even if the password is right. */
  async verify(guess: PasswordGuess): Promise<boolean> {
    await this.requireUnblocked(guess);
    const check = async (): Promise<boolean> => {
      // Checks the limits again, because concurrent guesses all pass the first check before any of them fails.
      await this.requireUnblocked(guess);
      const stored = guess.user?.password_hash;
      const matches = await passwordMatches(guess.password, stored ?? HASH_OF_NOBODY);
      const right = matches && Boolean(stored);
      if (right && guess.user?.enabled) return true;
      await this.requireUnblocked(guess, true);
      const reason = right ? 'disabled' : stored ? 'wrong_password' : 'unknown_user';
      const failure = { action: 'auth.login_failed', details: { reason } } as const;
      await this.refusals.ofLogin(failure, guess.user?.username, guess.address);
      return false;
    };
    return await this.places.run(check, { isPreferred: isTrustedAddress(guess) });
  }

  /** @param isFailure true to count a failure before the check */
  private async requireUnblocked(guess: PasswordGuess, isFailure = false): Promise<void> {
    const { address, account, user } = guess;
    const check = isFailure ? 'record' : 'blocked';
    const limited = await this.failures[check]('login', address);
    if (limited) {
      this.refusals.ofStranger({ action: 'auth.login_limited' }, address);
      throw limited;
    }
    const throttled = isTrustedAddress(guess)
      ? undefined
      : await this.failures[check]('account', account);
    if (!throttled) return;
    // Omits the address, because each guess for the account may come from another address.
    void this.refusals.ofLogin({ action: 'auth.login_limited' }, user?.username);
    throw throttled;
  }
}

/** Trusts the loopback address, so that an owner can log in on the machine itself before any other login. */
function isTrustedAddress({ user, address }: PasswordGuess): boolean {
  return user?.known === true || isLoopback(address);
}
