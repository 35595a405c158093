import type { Incident } from '../../incidents/incident.js';
import { shownStart } from '../../platform/text.js';
import { LONGEST_RETRY_AFTER_MS, type ModelUnavailableError } from '../model/model.errors.js';
import type { NotApplied, RunError, TriageRunSummary } from '../triage-run.js';

const FIRST_PAUSE_MS = 2_000;
/** Until somebody mends a setting or an account, one question in this time is enough to learn of it. */
const OPERATORS_PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 10 * 60_000;
export const LONGEST_WAIT_MS = 24 * 60 * 60_000;

/** A run whose replicas died so often may be what kills them. */
export const MOST_LAPSES = 3;

/** Why a verdict is kept as a run alone; undefined when it becomes the verdict of the incident. */
export function whyNotApplied(
  { status, verdict_by_person }: Pick<Incident, 'status' | 'verdict_by_person'>,
  { force }: Pick<TriageRunSummary, 'force'>,
): NotApplied | undefined {
  if (force) return undefined;
  if (verdict_by_person) return 'verdict_by_person';
  return status === 'resolved' ? 'incident_resolved' : undefined;
}

type Judged = Pick<Incident, 'status' | 'verdict_by_person' | 'triaged_at'>;

/** Whether the tool has reported since a person gave the verdict. A run then tells what a machine makes of the report. */
export function isVerdictOutdated(
  { status, verdict_by_person, triaged_at }: Judged,
  reportedAt: Date | undefined,
): boolean {
  if (!verdict_by_person || status === 'resolved' || !triaged_at || !reportedAt) return false;
  return reportedAt > triaged_at;
}

/**
 * Whether a completed run answers who asks without `force`. One that was kept back because its incident was resolved does
 * not, once the incident is open again.
 */
export function stillAnswers(
  { notApplied }: Pick<TriageRunSummary, 'notApplied'>,
  { status }: Pick<Incident, 'status'>,
): boolean {
  return notApplied !== 'incident_resolved' || status === 'resolved';
}

type Created = Pick<TriageRunSummary, 'createdAt'>;

/** Whether a run that nobody waits for has waited long enough: a verdict of yesterday's incident comes too late. */
export function isOverdue({ createdAt }: Created, now: Date): boolean {
  return now.getTime() - createdAt.getTime() >= LONGEST_WAIT_MS;
}

/** Whether a run that nobody waits for is tried again after the provider gave nothing. */
export function isTriedAgain(run: Created, { extras }: ModelUnavailableError, now: Date): boolean {
  return extras.mayHelpLater && !isOverdue(run, now);
}

/**
 * How long it rests before it is tried again: longer with each failure, and not shorter than the provider asks for.
 *
 * @param chance from 0 to 1: runs that failed together do not come back together
 */
export function retryPauseMs(
  failures: number,
  { extras }: ModelUnavailableError,
  chance: number,
): number {
  const doubled = FIRST_PAUSE_MS * 2 ** Math.min(failures, 16);
  const usual = Math.min(LONGEST_PAUSE_MS, doubled);
  const pause = (extras.needsOperator ? OPERATORS_PAUSE_MS : usual) * (1 + chance / 4);
  const wished = Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, extras.retryAfterMs || 0));
  return Math.round(Math.max(pause, wished));
}

const LONGEST_MESSAGE = 500;

/** What is kept and shown of it: the words may be a provider's. */
export function runErrorOf({ reason, message }: ModelUnavailableError): RunError {
  return { reason, message: shownStart(message, LONGEST_MESSAGE) };
}

/** What a run notes whose replica died: the first time only, because it is the same the second time. */
export const TAKEN_OVER =
  'The replica that carried it out first ended in the middle of it: it was begun anew.';

export const KILLED: RunError = {
  reason: 'interrupted',
  message: `The service ended in the middle of it ${MOST_LAPSES + 1} times.`,
};

export const INCIDENT_DELETED: RunError = {
  reason: 'incident_deleted',
  message: 'Its incident was deleted.',
};

export const STOPPED_BY_KILL_SWITCH: RunError = {
  reason: 'kill_switch',
  message: 'The kill switch was turned on while it ran.',
};

/** What ends a run that nobody waits for, instead of a question whose answer would not count. */
export const NOT_NEEDED: Readonly<Record<NotApplied, RunError>> = {
  verdict_by_person: {
    reason: 'not_needed',
    message: 'A person gave the verdict before triage began.',
  },
  incident_resolved: {
    reason: 'not_needed',
    message: 'The incident was resolved before triage began.',
  },
};

export const BROKEN: RunError = {
  reason: 'internal_error',
  message: 'It ended in an error of the service; see its log.',
};
