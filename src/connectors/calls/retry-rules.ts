import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { retryAfterMs } from '../../platform/net/retry-after.js';

export const ATTEMPTS = 3;

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/** The vendor asks to come back later, or a proxy in front of it fails. */
const TEMPORARY_STATUSES = new Set([429, 502, 503, 504]);

export function isTemporary(status: number): boolean {
  return TEMPORARY_STATUSES.has(status);
}

/** Whether a failed call may be made again: nothing was sent, or the vendor has the effect once however often it is asked. */
export function mayRepeat(error: unknown, idempotent: boolean): boolean {
  if (error instanceof UnreachableError) return error.temporary;
  return error instanceof OutcomeUnknownError && idempotent;
}

/** Milliseconds to wait after an attempt: twice as long each time, and not the same for everybody. @param chance from 0 to 1 */
export function backoff(attempt: number, chance: number): number {
  return FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + chance);
}

/**
 * How many milliseconds the vendor asks to wait. Undefined when it does not say so, and 'too long' when it is longer than
 * an action waits.
 */
export function retryAfter(header: string | undefined, now: Date): number | 'too long' | undefined {
  return bounded(retryAfterMs(header, now));
}

/** The same for vendors that say in a header of their own at which second since 1970 they may be asked again. */
export function retryAt(header: string | undefined, now: Date): number | 'too long' | undefined {
  if (header === undefined || !/^\d{1,12}$/.test(header.trim())) return undefined;
  return bounded(Math.max(0, Number(header) * 1_000 - now.getTime()));
}

function bounded(wait: number | undefined): number | 'too long' | undefined {
  return wait !== undefined && wait > LONGEST_WAIT_MS ? 'too long' : wait;
}
