import type { Action } from '../../actions/action.js';
import type { Incident, Severity } from '../../incidents/incident.js';
import type { PlaybookVersion } from '../playbook.js';
import { AppError, NotFoundError } from '../../platform/errors/app-error.js';

export const PLAYBOOK_RUN_STATUSES = [
  'running',
  'waiting_approval',
  'completed',
  'failed',
  'cancelled',
] as const;
export type PlaybookRunStatus = (typeof PLAYBOOK_RUN_STATUSES)[number];
export type OpenStatus = Extract<PlaybookRunStatus, 'running' | 'waiting_approval'>;
export type EndedStatus = Exclude<PlaybookRunStatus, OpenStatus>;

/** How a run ended. `partial`: it went to its end, and steps with `on_error: continue` failed. */
export const RUN_OUTCOMES = ['succeeded', 'partial', 'failed', 'cancelled'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** Undefined as long as it is open. */
export function outcomeOf({
  status,
  stepsFailed,
}: Pick<PlaybookRunSummary, 'status' | 'stepsFailed'>): RunOutcome | undefined {
  if (status === 'completed') return stepsFailed > 0 ? 'partial' : 'succeeded';
  return status === 'failed' || status === 'cancelled' ? status : undefined;
}

/** `pending` is shown of steps that were not reached; no row has it. */
export const STEP_STATUSES = [
  'pending',
  'running',
  'waiting_approval',
  'completed',
  'failed',
  'skipped',
  'cancelled',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];
export type ReachedStatus = Exclude<StepStatus, 'pending'>;

/** An incident as it was when the run started. Its raw data never changes, and is not kept twice. */
export type IncidentAtStart = Omit<Incident, 'rawData'>;

/** What the playbook reads beside the results of its own steps: a run that waits for days does not change its mind. */
export interface RunInput {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly incident?: IncidentAtStart;
}

/** How far a run has come. Steps that were not needed count as completed. */
export interface RunProgress {
  readonly stepsCompleted: number;
  readonly stepsFailed: number;
}

/** A run without its steps, as lists show it. What does not apply is undefined. */
export interface PlaybookRunSummary extends RunInput, RunProgress {
  readonly id: string;
  readonly playbookId: string;
  readonly playbookVersion: number;
  readonly playbookName: string;
  readonly incidentId?: string;
  readonly status: PlaybookRunStatus;
  /** The principal who started it; `system` when it started by itself after a triage. */
  readonly requestedBy: string;
  readonly automatic: boolean;
  /** Of an automatic run: the person by whose doing the incident has its verdict. */
  readonly onBehalfOf?: string;
  readonly stepsTotal: number;
  readonly error?: string;
  /** The number of its latest claim: what an earlier one writes does not count any more. */
  readonly fence: number;
  readonly wakes: number;
  readonly attempts: number;
  readonly startedAt: Date;
  /** Of an automatic run: later than `startedAt` where its playbook had begun as many in an hour as it may. */
  readonly startsAt?: Date;
  readonly completedAt?: Date;
}

/** Whether it had, or has, to wait because its playbook had begun as often within an hour as it may. */
export function waitsForTurn<R extends Pick<PlaybookRunSummary, 'startedAt' | 'startsAt'>>(
  run: R,
): run is R & { readonly startsAt: Date } {
  return run.startsAt !== undefined && run.startsAt > run.startedAt;
}

/** Whose action a step takes instead of one of its own. */
export interface BorrowedAction {
  readonly elsewhere: boolean;
  readonly requestedBy?: string;
  /** Of the incident for which it was requested. Absent for a direct action, or if the incident was deleted. */
  readonly incidentNumber?: string;
}

/** What is read of a step's action. */
export type StepAction = Pick<
  Action,
  | 'id'
  | 'action_type'
  | 'status'
  | 'parameters'
  | 'approval_level'
  | 'result'
  | 'rejected_by'
  | 'rejection_reason'
  | 'rejection_code'
> & {
  /** Others had requested it, when the step came to it; `elsewhere`: for another incident, or none. */
  readonly borrowed?: BorrowedAction | false;
};

/** A step that the run has come to. */
export interface ReachedStep {
  readonly position: number;
  readonly name: string;
  readonly status: ReachedStatus;
  readonly error?: string;
  readonly startedAt: Date;
  readonly completedAt?: Date;
  readonly action?: StepAction;
}

/** A run with what it goes by, and the steps that it has come to, in their order. */
export interface PlaybookRun extends PlaybookRunSummary {
  readonly playbook: PlaybookVersion;
  readonly steps: readonly ReachedStep[];
}

export function isOpen({ status }: { readonly status: StepStatus }): boolean {
  return status === 'running' || status === 'waiting_approval';
}

export function hasEnded({ completedAt }: Pick<PlaybookRunSummary, 'completedAt'>): boolean {
  return completedAt !== undefined;
}

/** The domain event of a step that failed, once for each run and step. */
export const STEP_FAILED = 'playbook.step_failed';

export interface StepFailedPayload {
  readonly playbook: string;
  readonly playbook_version: number;
  readonly step: string;
  readonly message: string;
  readonly automatic: boolean;
  /** Absent where the step came to no action, such as when an expression could not be evaluated. */
  readonly action_id?: string;
  readonly incident_id?: string;
  readonly incident_title?: string;
  readonly severity?: Severity;
}

/** The names of this module's audit records about runs. */
export const RUN_AUDIT_ACTIONS = {
  started: 'playbook.run_started',
  completed: 'playbook.run_completed',
  failed: 'playbook.run_failed',
  cancelled: 'playbook.run_cancelled',
} as const;

export class RunEndedError extends AppError {
  constructor() {
    super('invalid_state', 'The playbook run has ended.');
  }
}

export class PlaybookDisabledError extends AppError {
  constructor(name: string) {
    super('invalid_state', `The playbook ${name} is disabled: it starts no run.`, {
      details: { reason: 'playbook_disabled' },
    });
  }
}

export class PlaybookRunNotFoundError extends NotFoundError {
  constructor() {
    super('Playbook run');
  }
}
