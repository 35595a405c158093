import type { Failed, Outcome, Refused } from './channel-type.js';

export const ATTEMPT_MS = 15_000;
export const UNHEALTHY_AFTER_MS = 600_000;
/** After this number of successive failures, one delivery at a time tests whether the channel works again. */
export const FAILURES_UNTIL_PROBING = 3;
/** Period with one delivery at a time after the receiver requested a lower rate. */
export const ONE_BY_ONE_MS = 60_000;

const FIRST_WAIT_MS = 2_000;
const WAIT_FACTOR = 3;
const LONGEST_WAIT_MS = 3_600_000;
/** Minimum pause, even if the receiver requests a lower rate with a shorter Retry-After. */
const SHORTEST_BUSY_MS = 1_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
const LONGEST_ASKED_MS = 86_400_000;

export interface Ending {
  /** `unfolded`: the deliveries of a message without success are sent in separate messages. */
  readonly kind: 'delivered' | 'dead' | 'again' | 'unfolded';
  readonly waitMs?: number;
  readonly error?: string;
}

interface Folded {
  readonly delivery: { readonly attempts: number; readonly left_ms: number };
  readonly carried: readonly unknown[];
}

/** @param random from 0 to 1, so that deliveries that failed together are not retried together */
export function endingOf(
  outcome: Outcome,
  { delivery: { attempts, left_ms }, carried }: Folded,
  random: number,
): Ending {
  if (outcome.kind === 'delivered') return { kind: 'delivered' };
  const error = outcome.why;
  if (outcome.kind === 'refused' || left_ms <= 0) {
    const isFolded = carried.length > 0 && !outcome.isPartly;
    return { kind: isFolded ? 'unfolded' : 'dead', error };
  }
  const waitMs = Math.max(backoffOf(outcome, attempts, random), outcome.retryAfterMs ?? 0);
  // The last attempt is made at the end of the day, even if the receiver requested a longer wait.
  return { kind: 'again', waitMs: Math.min(waitMs, left_ms), error };
}

/** A delivery that exceeded the rate stays first until the receiver accepts more messages. */
function backoffOf({ isBusy }: Failed, attempts: number, random: number): number {
  if (isBusy) return SHORTEST_BUSY_MS;
  return spread(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * WAIT_FACTOR ** (attempts - 1)), random);
}

/** A message may cause a single failure. The channel causes several successive failures, even if each message is rejected. */
export function pauseAfter(outcome: Failed | Refused, failures: number, random: number): number {
  const asked =
    outcome.kind === 'failed' ? Math.min(LONGEST_ASKED_MS, outcome.retryAfterMs ?? 0) : 0;
  if (outcome.kind === 'failed' && outcome.isBusy) return Math.max(asked, SHORTEST_BUSY_MS);
  const further = failures - FAILURES_UNTIL_PROBING;
  if (further < 0) return asked;
  return Math.max(asked, spread(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** further), random));
}

function spread(ms: number, random: number): number {
  return Math.round(ms * (0.75 + random / 2));
}
