import type { NewWork } from '../platform/work/kind.js';

export interface Failure {
  /** refused: permanently, but only this message. failed: retried, because an administrator can correct the cause. */
  readonly kind: 'refused' | 'failed';
  readonly why: string;
  readonly retryAfterMs?: number;
  /** True if the receiver requests a lower rate: the channel sends more slowly, and no failure is counted. */
  readonly isBusy?: true;
}

/** `delivered` with a reason: some recipients refused the message, the others have it. */
export type Outcome = Failure | { readonly kind: 'delivered'; readonly why?: string };

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event for one channel, with the next attempt of its work. migrations/first-schema/10-notifications.sql explains the columns. */
export interface Delivery {
  readonly id: string;
  readonly channel_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly payload: object;
  readonly occurred_at: Date;
  readonly incident_id: string | null;
  readonly urgency: number;
  readonly group_key: string | null;
  readonly carried_by: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly expires_at: Date;
  readonly last_error: string | null;
  readonly ended_at: Date | null;
  readonly next_attempt_at: Date;
}

export const MAX_ERROR = 500;
/** Maximum deliveries per redelivery. Limits the time for which a transaction holds its locks. */
export const MAX_REDELIVERED = 10_000;

export const NOTIFICATION = { name: 'notification' } as const;

export const laneOf = (channelId: string): string => `${NOTIFICATION.name}.${channelId}`;

/** Deliveries about one incident or subject share a `line`: "recovered" never arrives before "unhealthy". */
export function workOf(row: Delivery): NewWork {
  const about = (row.incident_id ?? row.subject_id).slice(0, 100);
  const { id: ref, channel_id, urgency } = row;
  return { ref, lane: laneOf(channel_id), line: `${channel_id} ${about}`, urgency };
}

export const ATTEMPT_MS = 15_000;
export const UNHEALTHY_AFTER_MS = 600_000;
/** After this number of failures in a row, the channel sends one delivery at a time until it works again. */
export const FAILURES_UNTIL_PROBING = 3;
/** Period in which the channel sends one delivery at a time after the receiver has requested a lower rate. */
export const ONE_BY_ONE_MS = 60_000;

const FIRST_WAIT_MS = 2_000;
const WAIT_FACTOR = 3;
const LONGEST_WAIT_MS = 3_600_000;
/** Minimum pause after a request for a lower rate, even if its Retry-After is shorter. */
const SHORTEST_BUSY_MS = 1_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
const LONGEST_ASKED_MS = 86_400_000;

export interface Ending {
  readonly kind: 'delivered' | 'dead' | 'again';
  readonly waitMs?: number;
  readonly error?: string;
}

/** @param random from 0 to 1, so that deliveries that failed together are not retried together */
export function endingOf(
  outcome: Outcome,
  { attempts, left_ms }: { readonly attempts: number; readonly left_ms: number },
  random: number,
): Ending {
  const { kind, why: error } = outcome;
  if (kind === 'delivered' && error === undefined) return { kind };
  if (kind !== 'failed' || left_ms <= 0) return { kind: 'dead', error };
  const backoffMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * WAIT_FACTOR ** (attempts - 1));
  // If the receiver requests a lower rate, the delivery gets no backoff, so that it stays the first in its channel.
  const ownMs = outcome.isBusy ? SHORTEST_BUSY_MS : spread(backoffMs, random);
  // Makes the last attempt when the delivery expires, even if the receiver requested a longer wait.
  const waitMs = Math.min(Math.max(ownMs, outcome.retryAfterMs ?? 0), left_ms);
  return { kind: 'again', waitMs, error };
}

/** One failure may be the fault of the message. Several failures in a row are the fault of the channel. */
export function pauseAfter(
  { isBusy, retryAfterMs = 0 }: Failure,
  failures: number,
  random: number,
): number {
  const asked = Math.min(LONGEST_ASKED_MS, retryAfterMs);
  if (isBusy) return Math.max(asked, SHORTEST_BUSY_MS);
  const further = failures - FAILURES_UNTIL_PROBING;
  if (further < 0) return asked;
  return Math.max(asked, spread(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** further), random));
}

const spread = (ms: number, random: number): number => Math.round(ms * (0.75 + random / 2));
