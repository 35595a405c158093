import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';

export const ATTEMPTS = 3;

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/** The vendor is there and wants to be asked later, or something between fails. */
const PASSING_STATUSES = new Set([429, 502, 503, 504]);

export function isTemporary(status: number): boolean {
  return PASSING_STATUSES.has(status);
}

/** Nothing was sent, or it cannot happen twice. */
export function mayRepeat(error: unknown, idempotent: boolean): boolean {
  if (error instanceof UnreachableError) return error.temporary;
  return error instanceof OutcomeUnknownError && idempotent;
}

/** @param chance from 0 to 1 */
export function backoff(attempt: number, chance: number): number {
  return FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + chance);
}

/**
 * How long the vendor wants one to wait, in milliseconds; undefined when it does not say, and 'too long' when nobody here
 * would wait so long.
 */
export function retryAfter(header: string | undefined, now: Date): number | 'too long' | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  if (Number.isNaN(wait)) return undefined;
  return wait > LONGEST_WAIT_MS ? 'too long' : Math.max(0, wait);
}
