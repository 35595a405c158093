import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { normalisePassword, weaknessOf } from './password-requirements.js';
import { UnavailableError } from '../../platform/errors/app-error.js';
import { WeakPasswordError } from '../auth.errors.js';
import { Semaphore } from '../../platform/concurrency/semaphore.js';

interface Cost {
  /** Memory in KiB. */
  readonly m: number;
  /** Passes. */
  readonly t: number;
  /** Lanes. */
  readonly p: number;
}

/** OWASP recommendation for Argon2id; about 60 ms on one core of 2026. */
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
/** About 10 s of work, which is the longest acceptable wait for a login. */
const MOST_WAITING_CHECKS = 300;

/** Compared for unknown users: it has the current cost, and no password matches it. */
const HASH_OF_NOBODY = `${PREFIX}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

interface WantedPassword {
  readonly username: string;
  readonly password: string;
  /** Field of the request that contains the password. */
  readonly field: string;
}

/** Hashes and verifies passwords, two at a time. */
@Injectable()
export class Passwords {
  private readonly places = new Semaphore(AT_A_TIME, {
    most: MOST_WAITING_CHECKS,
    error: () => new UnavailableError('Too many passwords are being checked.'),
  });

  /** Passwords are set by logged-in users or by the service, so strangers must not delay them. */
  hash(password: string): Promise<string> {
    return this.places.run(() => hashPassword(password), { isPreferred: true });
  }

  /** Hashes a chosen password. Rejects a weak one. */
  async hashChosen({ username, password, field }: WantedPassword): Promise<string> {
    const weakness = await weaknessOf(password, username);
    if (weakness !== undefined) throw new WeakPasswordError(field, weakness);
    return await this.hash(password);
  }

  /** Runs `attempt` in its turn. `attempt` checks the limits again, because they may be used up by then. */
  inTurn<T>(
    attempt: (matches: (password: string, stored?: string) => Promise<boolean>) => Promise<T>,
    options: { readonly isPreferred: boolean },
  ): Promise<T> {
    return this.places.run(() => attempt(matches), options);
  }
}

/** Takes the same time if there is no stored hash. */
async function matches(password: string, stored?: string): Promise<boolean> {
  const equal = await passwordMatches(password, stored ?? HASH_OF_NOBODY);
  return equal && stored !== undefined;
}
