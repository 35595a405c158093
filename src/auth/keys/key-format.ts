import { hash, randomBytes, randomInt } from 'node:crypto';

const PREFIX_LENGTH = 8;
const SECRET_BYTES = 32;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `its_`, a public prefix that identifies the key, and a secret of 256 bits. */
const KEY_PATTERN = /^its_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})$/;

interface NewKey {
  readonly key: string;
  readonly prefix: string;
  readonly hash: Buffer;
}

export function createKey(): NewKey {
  const prefix = Array.from(
    { length: PREFIX_LENGTH },
    () => LETTERS[randomInt(LETTERS.length)],
  ).join('');
  return readKey(`its_${prefix}_${randomBytes(SECRET_BYTES).toString('base64url')}`)!;
}

/** Parses a key. A plain hash is safe to store, because a secret of 256 bits cannot be guessed. */
export function readKey(key: string): NewKey | undefined {
  const prefix = KEY_PATTERN.exec(key)?.[1];
  return prefix === undefined ? undefined : { key, prefix, hash: hashOf(key) };
}

export function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
