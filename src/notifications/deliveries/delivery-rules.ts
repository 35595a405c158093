import type { Failed, Refused } from '../channel-type.js';
import type { ClaimedDelivery } from '../delivery.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** How long one attempt may take. */
export const ATTEMPT_MS = 15 * SECOND_MS;

/** How long a channel may fail before the others are told. */
export const UNHEALTHY_AFTER_MS = 10 * MINUTE_MS;

/** From so many failures in a row on, one delivery at a time shows whether the channel works again. */
export const FAILURES_UNTIL_PROBING = 3;

/** How long a channel tries one delivery at a time after its receiver said that more are too many. */
export const ONE_BY_ONE_MS = MINUTE_MS;

const FIRST_WAIT_MS = 2 * SECOND_MS;
const WAIT_FACTOR = 3;
const LONGEST_WAIT_MS = HOUR_MS;
/** At least so long, also when somebody who has enough says that it may be at once. */
const SHORTEST_BUSY_MS = SECOND_MS;
const FIRST_PAUSE_MS = 5 * SECOND_MS;
const LONGEST_PAUSE_MS = 5 * MINUTE_MS;
const LONGEST_ASKED_MS = 24 * HOUR_MS;

/** What becomes of a delivery after an attempt. */
export type Ending =
  | { readonly kind: 'again'; readonly waitMs: number; readonly error: string }
  /** What is refused together is sent as messages of their own. */
  | { readonly kind: 'unfolded' | 'dead'; readonly error: string };

/** @param random from 0 to 1, so that what failed together is not tried together again */
export function endingOf(
  outcome: Failed | Refused,
  { attempts, leftMs }: Pick<ClaimedDelivery, 'attempts' | 'leftMs'>,
  random: number,
): Ending {
  const error = outcome.why;
  if (outcome.kind === 'refused' || leftMs <= 0) return { kind: 'dead', error };
  const waitMs = Math.max(backoffOf(outcome, attempts, random), outcome.retryAfterMs ?? 0);
  // The last attempt is made when its day is over, also when somebody asked for a longer wait.
  return { kind: 'again', waitMs: Math.min(waitMs, leftMs), error };
}

/** What only came too fast keeps its turn: it is the first again when the receiver takes more. */
function backoffOf({ isBusy }: Failed, attempts: number, random: number): number {
  if (isBusy) return SHORTEST_BUSY_MS;
  return spread(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * WAIT_FACTOR ** (attempts - 1)), random);
}

/**
 * How long nothing is sent to the channel after an attempt that failed; 0 for no pause. One failure may be the fault of one
 * message; several in a row are not, also when each is refused for good.
 *
 * @param failures in a row, with this one
 */
export function pauseAfter(outcome: Failed | Refused, failures: number, random: number): number {
  const asked =
    outcome.kind === 'failed' ? Math.min(LONGEST_ASKED_MS, outcome.retryAfterMs ?? 0) : 0;
  if (outcome.kind === 'failed' && outcome.isBusy) return Math.max(asked, SHORTEST_BUSY_MS);
  const further = failures - FAILURES_UNTIL_PROBING;
  if (further < 0) return asked;
  return Math.max(asked, spread(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** further), random));
}

/** Between three and five quarters of it. */
function spread(ms: number, random: number): number {
  return Math.round(ms * (0.75 + random / 2));
}
