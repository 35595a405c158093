import { type Action, shownActionId, SYSTEM } from '../../../actions/action.js';
import type { AuditEntry } from '../../../audit/audit-entry.js';
import type { LockedIncident } from '../../../incidents/incident.js';
import type { NewTimelineEntry } from '../../../incidents/timeline/incident-timeline.js';
import type { NewEvent } from '../../../platform/work/domain-event.js';
import type { SettledStep } from '../next-move.js';
import {
  type EndedStatus,
  outcomeOf,
  type PlaybookRunSummary,
  RUN_AUDIT_ACTIONS,
  type RunProgress,
  STEP_FAILED,
  type StepFailedPayload,
  waitsForTurn,
} from '../playbook-run.js';

type Change = keyof typeof RUN_AUDIT_ACTIONS;

export interface RunEnd extends RunProgress {
  readonly status: EndedStatus;
  readonly error?: string;
}

/** What is told of a change of a run, and to whom. */
export interface RunNews {
  readonly audit: AuditEntry;
  /** Absent where the run is about no incident. */
  readonly timeline?: NewTimelineEntry;
}

export function newsOfStart(run: PlaybookRunSummary): RunNews {
  const { automatic, variables, onBehalfOf } = run;
  const starts_at = waitsForTurn(run) ? run.startsAt.toISOString() : undefined;
  const details = { automatic, on_behalf_of: onBehalfOf, variables, starts_at };
  const summary =
    starts_at === undefined
      ? `Started ${named(run)}.`
      : `Waits to run ${named(run)}, which has begun as often within an hour as PLAYBOOK_RUNS_PER_HOUR allows. It begins at ${starts_at}, or later if runs for more severe incidents come before it.`;
  return newsOf('started', run.requestedBy, run, details, summary);
}

export function newsOfEnd(run: PlaybookRunSummary, end: RunEnd, by: string): RunNews {
  const { status, error, stepsCompleted, stepsFailed } = end;
  const details = {
    error,
    steps_completed: stepsCompleted,
    steps_failed: stepsFailed,
    steps_total: run.stepsTotal,
  };
  return newsOf(status, by, run, details, endInWords(run, end));
}

const WORDS = { completed: 'Completed', failed: 'Could not complete', cancelled: 'Cancelled' };

function endInWords(run: PlaybookRunSummary, end: RunEnd): string {
  const why = end.error ?? (isPartial(end) ? `${failuresInWords(run, end)}.` : undefined);
  return `${WORDS[end.status]} ${named(run)}${why === undefined ? '.' : `: ${why}`}`;
}

export function entryOfFailedStep(
  run: PlaybookRunSummary,
  { name, error = 'It failed.' }: SettledStep,
  incidentId: string,
): NewTimelineEntry {
  return {
    incidentId,
    event: 'playbook_step_failed',
    actor: SYSTEM,
    summary: `Step ${name} of ${named(run)} failed: ${error}`,
    subject: { type: 'playbook_run', id: run.id },
  };
}

/** Of a step that does nothing of its own, because somebody else has asked for the same. */
export function entryOfSharedAction(
  run: PlaybookRunSummary,
  step: string,
  { id, action_type, status, requested_by, incident }: Action,
  incidentId: string,
): NewTimelineEntry {
  const of = incident ? ` for ${incident.incident_number}` : '';
  const state = status === 'pending_approval' ? 'waits for approval' : `is ${status}`;
  return {
    incidentId,
    event: 'playbook_step_shared',
    actor: SYSTEM,
    summary: `Step ${step} of ${named(run)} takes the ${action_type} that ${requested_by} requested${of} (${shownActionId(id)}): it ${state}.`,
    subject: { type: 'action', id: shownActionId(id) },
  };
}

export function eventOfFailedStep(
  run: PlaybookRunSummary,
  { name, error = 'It failed.', actionId }: SettledStep,
  incident: Pick<LockedIncident, 'title' | 'severity'> | undefined,
): NewEvent<StepFailedPayload> {
  return {
    type: STEP_FAILED,
    subject: { type: 'playbook_run', id: run.id },
    payload: {
      playbook: run.playbookName,
      playbook_version: run.playbookVersion,
      step: name,
      message: error,
      automatic: run.automatic,
      action_id: actionId && shownActionId(actionId),
      incident_id: run.incidentId,
      incident_title: incident?.title,
      severity: incident?.severity,
    },
  };
}

/** It went to its end, because its failed steps say `on_error: continue`. */
export function isPartial(end: RunEnd): boolean {
  return outcomeOf(end) === 'partial';
}

export function failuresInWords(
  { stepsTotal }: Pick<PlaybookRunSummary, 'stepsTotal'>,
  { stepsFailed }: RunProgress,
): string {
  return `${stepsFailed} of ${stepsTotal} steps failed`;
}

function newsOf(
  change: Change,
  actor: string,
  run: PlaybookRunSummary,
  details: Readonly<Record<string, unknown>>,
  summary: string,
): RunNews {
  const { incidentId } = run;
  const subject = { type: 'playbook_run', id: run.id };
  const about = {
    playbook_id: run.playbookId,
    playbook: run.playbookName,
    version: run.playbookVersion,
    incident_id: incidentId,
  };
  return {
    audit: {
      actor,
      action: RUN_AUDIT_ACTIONS[change],
      subject,
      details: { ...about, ...details },
    },
    timeline:
      incidentId === undefined
        ? undefined
        : { incidentId, event: `playbook_${change}`, actor, summary, subject },
  };
}

function named({ playbookName, playbookVersion }: PlaybookRunSummary): string {
  return `the playbook ${playbookName} (version ${playbookVersion})`;
}
