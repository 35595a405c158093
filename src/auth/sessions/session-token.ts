import { hash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

export function createSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** What PostgreSQL knows of a token, in hexadecimal; undefined for what cannot be one. */
export function sessionHashOf(token: string): string | undefined {
  return TOKEN_PATTERN.test(token) ? hash('sha256', token, 'hex') : undefined;
}
