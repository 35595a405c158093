import { hash, randomBytes } from 'node:crypto';

/** A session ends when it was not used for this long … */
export const IDLE_HOURS = 8;
/** … and this long after the login in any case. */
export const ABSOLUTE_HOURS = 24;

export const SESSION_SORTS = [
  '-created_at',
  'created_at',
  '-last_seen_at',
  'last_seen_at',
] as const;
export type SessionSort = (typeof SESSION_SORTS)[number];

export interface Session {
  readonly id: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
  readonly address: string | null;
  readonly user_agent: string | null;
}

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  /** In hexadecimal. */
  readonly tokenHash: string;
  /** Where it was begun and with what, as its user is shown it. */
  readonly address: string;
  readonly userAgent?: string;
}

const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

export function createSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** What PostgreSQL knows of a token, in hexadecimal; undefined for what cannot be one. */
export function sessionHashOf(token: string): string | undefined {
  return TOKEN_PATTERN.test(token) ? hash('sha256', token, 'hex') : undefined;
}
