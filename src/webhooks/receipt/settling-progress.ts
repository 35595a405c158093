import { MOST_EVENTS, type Part } from '../mapping/mapping-rules.js';
import type { EarlierReceipt, SettledEvent } from './receipt.js';
import { statusOf } from './receipt.js';

/** How far a body of many events is settled. Each part is a transaction, which writes this down. */
export interface SettlingProgress {
  /** Events that are done, from the start of the body. */
  readonly done: number;
  /** Size of the next part. It is halved after a failure, until one event is left. */
  readonly most: number;
  readonly outcomes: readonly SettledEvent['outcome'][];
  readonly incidentIds: readonly string[];
  /** The receipt that the first part repeats. */
  readonly repeats?: string;
  /** Positions of events that could not be stored, from 1. */
  readonly failed: readonly number[];
}

/** More positions are not named. */
const MOST_NAMED = 100;

export const NOTHING_DONE: SettlingProgress = {
  done: 0,
  most: MOST_EVENTS,
  outcomes: [],
  incidentIds: [],
  failed: [],
};

export function nextPart({ done, most }: SettlingProgress): Part {
  return { from: done, most };
}

export function afterPart(
  before: SettlingProgress,
  events: readonly SettledEvent[],
  repeats: EarlierReceipt | undefined,
): SettlingProgress {
  const ids = events.map(({ incidentId }) => incidentId);
  return {
    ...before,
    done: before.done + events.length,
    most: MOST_EVENTS,
    outcomes: [...new Set([...before.outcomes, ...events.map(({ outcome }) => outcome)])],
    incidentIds: [...new Set([...before.incidentIds, ...ids])],
    repeats: before.repeats ?? repeats?.id,
  };
}

/** A part that fails is tried in halves. One event that fails alone is left out, so that it keeps no other back. */
export function afterFailure(before: SettlingProgress, size: number): SettlingProgress {
  if (size > 1) return { ...before, most: Math.ceil(size / 2) };
  const failed = [...before.failed, before.done + 1].slice(0, MOST_NAMED);
  return { ...before, done: before.done + 1, most: MOST_EVENTS, failed };
}

/** What becomes of the receipt when nothing is left to do. */
export function ending(
  { outcomes, incidentIds, repeats, failed }: SettlingProgress,
  total: number,
) {
  const error =
    failed.length > 0
      ? `Of ${total} events these could not be stored: number ${failed.join(', ')}. The log has the cause.`
      : undefined;
  const status = statusOf(outcomes.map((outcome) => ({ outcome })));
  return {
    status: error ? ('failed' as const) : status,
    error: error ?? null,
    incident_ids: incidentIds,
    duplicate_of: status === 'duplicate' && !error ? (repeats ?? null) : null,
  };
}
