import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { normalisePassword } from './password-requirements.js';

export interface Cost {
  /** Memory in KiB. */
  readonly m: number;
  /** Passes. */
  readonly t: number;
  /** Lanes. */
  readonly p: number;
}

/** What OWASP recommends for Argon2id; about 60 ms on one core of 2026. */
export const COST: Cost = { m: 19_456, t: 2, p: 1 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,})\$([A-Za-z0-9+/]{43})$/;

/** In the usual text form (PHC), which says with what cost it was made. */
export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const made = await derive(password, salt, cost);
  return `$argon2id$v=19$m=${cost.m},t=${cost.t},p=${cost.p}$${bare(salt)}$${bare(made)}`;
}

export async function passwordMatches(password: string, stored: string): Promise<boolean> {
  const parts = PHC.exec(stored);
  if (!parts)
    throw new Error('A stored password hash is not in the form that this service writes.');
  const [, m, t, p, salt, hash] = parts;
  const cost = { m: Number(m), t: Number(t), p: Number(p) };
  const made = await derive(password, Buffer.from(salt!, 'base64'), cost);
  return timingSafeEqual(made, Buffer.from(hash!, 'base64'));
}

/** Whether it was made with another cost than today's, and should be made again when the password is known. */
export function isOutdated(stored: string): boolean {
  return !stored.startsWith(`$argon2id$v=19$m=${COST.m},t=${COST.t},p=${COST.p}$`);
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
