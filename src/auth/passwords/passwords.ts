import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isLoopback } from '../../platform/addresses/network.js';
import { Semaphore } from '../../platform/concurrency/semaphore.js';
import { AppError, UnavailableError } from '../../platform/errors/app-error.js';
import { FailureLimits } from '../../platform/limits/limits.js';
import { TooManyFailuresError, WeakPasswordError } from '../auth.errors.js';
import { Refusals } from '../refusals/refusals.js';
import type { LoginUser } from '../users/user.entity.js';
import { normalisePassword, weaknessOf } from './password-requirements.js';

interface Cost {
  /** Memory in KiB. */
  readonly m: number;
  /** Passes. */
  readonly t: number;
  /** Lanes. */
  readonly p: number;
}

/** OWASP recommendation for Argon2id. Takes about 60 ms on one core of 2026. */
const COST: Cost = { m: 19_456, t: 2, p: 1 };

const PREFIX = `$argon2id$v=19$m=${COST.m},t=${COST.t},p=${COST.p}`;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,})\$([A-Za-z0-9+/]{43})$/;

/** Returns the hash in PHC format, which includes the cost. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return `${PREFIX}$${bare(salt)}$${bare(await derive(password, salt, COST))}`;
}

export async function passwordMatches(password: string, stored: string): Promise<boolean> {
  const parts = PHC.exec(stored);
  if (!parts) throw new Error('A stored password hash does not have the expected form.');
  const [, m, t, p, salt, hash] = parts;
  const cost = { m: Number(m), t: Number(t), p: Number(p) };
  const made = await derive(password, Buffer.from(salt!, 'base64'), cost);
  return timingSafeEqual(made, Buffer.from(hash!, 'base64'));
}

function derive(password: string, nonce: Buffer, { m, t, p }: Cost): Promise<Buffer> {
  const parameters = {
    message: Buffer.from(normalisePassword(password)),
    nonce,
    memory: m,
    passes: t,
    parallelism: p,
    tagLength: HASH_BYTES,
  };
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, made) => (error ? reject(error) : resolve(made)));
  });
}

function bare(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** Each check takes 19 MiB and one of the few threads that Node.js also uses for files and DNS. */
const AT_A_TIME = 2;
/** About 10 s of work: the longest acceptable wait for a login. */
const MOST_WAITING_CHECKS = 300;

/** Compared for unknown users: this hash has the current cost, and no password matches it. */
const HASH_OF_NOBODY = `${PREFIX}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

interface PasswordGuess {
  readonly address: string;
  /** Counts failures from unknown networks, even if no user has this name. */
  readonly account: string;
  readonly password: string;
  /** `undefined` if the user does not exist. The check then takes the same time. */
  readonly user: LoginUser | undefined;
}

/**
 * Hashes and verifies passwords, two at a time. Limits failures per address. Also limits failures per account, from
 * networks where the user has never logged in. So guessing is slow from any number of addresses, and the owner can
 * still log in. See docs/adr/0008.
 */
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

  /** Takes priority over login checks, so that strangers cannot delay logged-in users and the service. */
  hash(password: string): Promise<string> {
    return this.places.run(() => hashPassword(password), { isPreferred: true });
  }

  /** Hashes a chosen password. Rejects a weak password. `field` is the request field with the password. */
  async hashChosen(username: string, password: string, field = 'password'): Promise<string> {
    const weakness = await weaknessOf(password, username);
    if (weakness !== undefined) throw new WeakPasswordError(field, weakness);
    return await this.hash(password);
  }

  /** Throws if the address or the account has reached its limit, even if the password is right. */
  async verify(guess: PasswordGuess): Promise<boolean> {
    await this.requireUnblocked(guess);
    const check = async (): Promise<boolean> => {
      // Checked again: concurrent guesses all pass the first check before any of them fails.
      await this.requireUnblocked(guess);
      const stored = guess.user?.password_hash;
      const matches = await passwordMatches(guess.password, stored ?? HASH_OF_NOBODY);
      const right = matches && Boolean(stored);
      // The right password of a disabled user counts as a failure.
      if (right && guess.user?.enabled) return true;
      await this.requireUnblocked(guess, true);
      const reason = right ? 'disabled' : stored ? 'wrong_password' : 'unknown_user';
      await this.refusals.login(guess.address, guess.user?.username, reason);
      return false;
    };
    return await this.places.run(check, { isPreferred: isTrustedAddress(guess) });
  }

  /** @param isFailure true to count a failure before the check */
  private async requireUnblocked(guess: PasswordGuess, isFailure = false): Promise<void> {
    const { address, account, user } = guess;
    const check = isFailure ? 'record' : 'blocked';
    const wait = await this.failures[check]('login', address);
    if (wait !== undefined) {
      this.refusals.ofStranger({ action: 'auth.login_limited' }, address);
      throw new TooManyFailuresError('wrong passwords', wait);
    }
    if (isTrustedAddress(guess)) return;
    const seconds = await this.failures[check]('account', account);
    if (seconds === undefined) return;
    this.refusals.accountLimit(user?.username);
    throw new AppError(
      'rate_limited',
      'Too many wrong passwords for this user from new addresses. Try again later, or from an address of an earlier login.',
      { headers: { 'retry-after': String(seconds) } },
    );
  }
}

/** The loopback address is trusted, so that an owner can log in from the machine before any other login. */
function isTrustedAddress({ user, address }: PasswordGuess): boolean {
  return user?.known === true || isLoopback(address);
}
