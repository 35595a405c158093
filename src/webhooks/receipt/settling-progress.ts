import { MOST_EVENTS, type Part } from '../mapping/mapping-rules.js';
import type { EarlierReceipt, SettledEvent } from './receipt.js';
import { statusOf } from './receipt.js';

/** Progress of a large body that is settled in parts. The transaction of each part stores it. */
export interface SettlingProgress {
  /** Number of settled events, counted from the start of the body. */
  readonly done: number;
  /** Size of the next part. It is halved after a failure, until one event is left. */
  readonly most: number;
  readonly outcomes: readonly SettledEvent['outcome'][];
  /** The receipt that the first part repeats. */
  readonly repeats?: string;
  /** Positions of the first events that could not be stored, from 1. */
  readonly failed: readonly number[];
  /** Number of all events that could not be stored. */
  readonly failures: number;
}

/** Maximum number of positions in the error message. */
const MOST_NAMED = 100;

export const NOTHING_DONE: SettlingProgress = {
  done: 0,
  most: MOST_EVENTS,
  outcomes: [],
  failed: [],
  failures: 0,
};

export function nextPart({ done, most }: SettlingProgress): Part {
  return { from: done, most };
}

export function afterPart(
  before: SettlingProgress,
  events: readonly SettledEvent[],
  repeats: EarlierReceipt | undefined,
): SettlingProgress {
  return {
    ...before,
    done: before.done + events.length,
    most: MOST_EVENTS,
    outcomes: [...new Set([...before.outcomes, ...events.map(({ outcome }) => outcome)])],
    repeats: before.repeats ?? repeats?.id,
  };
}

/** Halves a part that failed. An event that fails alone is left out, so that it does not block the other events. */
export function afterFailure(before: SettlingProgress, size: number): SettlingProgress {
  if (size > 1) return { ...before, most: Math.ceil(size / 2) };
  const failed = [...before.failed, before.done + 1].slice(0, MOST_NAMED);
  const failures = before.failures + 1;
  return { ...before, done: before.done + 1, most: MOST_EVENTS, failed, failures };
}

/** Final status of the receipt after the last part. */
export function ending({ outcomes, repeats, failed, failures }: SettlingProgress, total: number) {
  const more = failures > failed.length ? ` and ${failures - failed.length} more` : '';
  const error =
    failures > 0
      ? `Of ${total} events these could not be stored: number ${failed.join(', ')}${more}. The log has the cause.`
      : undefined;
  const status = statusOf(outcomes.map((outcome) => ({ outcome })));
  return {
    status: error ? ('failed' as const) : status,
    error: error ?? null,
    duplicate_of: status === 'duplicate' && !error ? (repeats ?? null) : null,
  };
}
