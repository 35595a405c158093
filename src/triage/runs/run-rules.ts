import type { Incident } from '../../incidents/incident.js';
import type { ModelUnavailableError } from '../model/triage-model.port.js';
import type { NotApplied, RunError, TriageRun } from '../triage-run.js';

const FIRST_PAUSE_MS = 2_000;
/** Pause until an operator has repaired a setting or an account. */
const OPERATORS_PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 10 * 60_000;
const LONGEST_WAIT_MS = 24 * 60 * 60_000;

export function whyNotApplied(
  { status, verdict_by_person }: Pick<Incident, 'status' | 'verdict_by_person'>,
  { force }: Pick<TriageRun, 'force'>,
): NotApplied | undefined {
  if (force) return undefined;
  if (verdict_by_person) return 'verdict_by_person';
  return status === 'resolved' ? 'incident_resolved' : undefined;
}

type Judged = Pick<Incident, 'status' | 'verdict_by_person' | 'triaged_at'>;

export function isVerdictOutdated(
  { status, verdict_by_person, triaged_at }: Judged,
  reportedAt: Date | undefined,
): boolean {
  if (!verdict_by_person || status === 'resolved' || !triaged_at || !reportedAt) return false;
  return reportedAt > triaged_at;
}

/**
 * True if a completed run is the response to a request without `force`. A run whose verdict was not applied to a
 * resolved incident no longer counts when the incident is open again.
 */
export function stillAnswers(run: Pick<TriageRun, 'not_applied'>, status: Incident['status']) {
  return run.not_applied !== 'incident_resolved' || status === 'resolved';
}

/** True if a background run is retried. A verdict after a day is too late. */
export function isTriedAgain(
  { created_at }: Pick<TriageRun, 'created_at'>,
  { remedy }: ModelUnavailableError,
  now: Date,
): boolean {
  return remedy !== 'nothing' && now.getTime() - created_at.getTime() < LONGEST_WAIT_MS;
}

/**
 * Returns the pause before the next attempt: longer after each failure, and at least the pause that the provider
 * requests.
 * @param chance from 0 to 1, so that runs that failed together do not retry together
 */
export function retryPauseMs(
  failures: number,
  { remedy, extras }: ModelUnavailableError,
  chance: number,
): number {
  const usual = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 16));
  const pause = (remedy === 'operator' ? OPERATORS_PAUSE_MS : usual) * (1 + chance / 4);
  return Math.round(Math.max(pause, extras.retryAfterMs ?? 0));
}

export const TAKEN_OVER =
  'The replica of an earlier attempt ended in the middle of the attempt, so there was another attempt.';

export class RunOver extends Error {
  constructor(readonly why: RunError) {
    super(why.message);
  }
}
