import { sortWords } from '../../platform/paging/sort-words.js';
import { hash, randomBytes } from 'node:crypto';
import type { SessionEntity } from './session.entity.js';

/** A session ends when it was not used for this long, */
export const IDLE_HOURS = 8;
/** and this long after the login even while it is in use. */
export const ABSOLUTE_HOURS = 24;

export const SESSION_SORTS = sortWords('created_at', 'last_seen_at');
export type SessionSort = (typeof SESSION_SORTS)[number];

/** A session without the hash of its token, which reads leave out unless they ask for it. */
export type Session = Omit<SessionEntity, 'token_hash'>;

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  /** In hexadecimal. */
  readonly tokenHash: string;
  /** Where the login came from, and the User-Agent header that it came with. Both are shown to the user. */
  readonly address: string;
  readonly userAgent?: string;
}

const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

export function createSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** The hash of a token in hexadecimal; the token itself is not stored. Undefined for a text that cannot be a token. */
export function sessionHashOf(token: string): string | undefined {
  return TOKEN_PATTERN.test(token) ? hash('sha256', token, 'hex') : undefined;
}
