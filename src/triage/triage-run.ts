import type { Evidence, Indicator, Classification } from '../incidents/incident.js';
import type { UnavailableReason } from './model/model.errors.js';
import type { ProviderName, ScoredPoint, ToolCall } from './model/triage-model.port.js';
import type { TokenUse } from './model/token-use.js';

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Why a run failed beside what may be wrong with the provider. */
export const OWN_FAILURES = [
  'kill_switch',
  'incident_deleted',
  'interrupted',
  'discarded',
  'not_needed',
  'internal_error',
] as const;
export type FailureReason = UnavailableReason | (typeof OWN_FAILURES)[number];

export interface RunError {
  readonly reason: FailureReason;
  readonly message: string;
}

/** Why a completed run did not change its incident. */
export const NOT_APPLIED = ['verdict_by_person', 'incident_resolved'] as const;
export type NotApplied = (typeof NOT_APPLIED)[number];

/** Evidence from a later report names it as `report/<id>`; its pointer begins at `raw_data` of that report. */
export const REPORT = 'report/';

/** A verdict whose evidence code has checked: each pointer resolves to its value. */
export interface RunVerdict {
  readonly classification: Classification;
  readonly confidence: number;
  readonly category: string;
  readonly reasoning: string;
  readonly indicators: readonly Indicator[];
  readonly mitre_techniques: readonly string[];
  readonly evidence: readonly Evidence[];
}

/** What lists show of a run. What does not apply is undefined. */
export interface TriageRunSummary {
  readonly id: string;
  readonly incidentId: string;
  readonly status: RunStatus;
  /** The principal who asked for it: a person, or the webhook source that wants its incidents triaged. */
  readonly requestedBy: string;
  /** It may replace a verdict that a person gave, and the verdict of a resolved incident. */
  readonly force: boolean;
  readonly playbook?: string;
  /** What a reader has to know, such as that its playbook was missing. */
  readonly notes: readonly string[];
  readonly provider: ProviderName;
  readonly model?: string;
  readonly promptHash?: string;
  /** Of all its attempts. */
  readonly tokens: TokenUse;
  /** Of the attempt that ended it. */
  readonly durationMs?: number;
  readonly verdict?: RunVerdict;
  readonly recommendedActions?: readonly string[];
  readonly notApplied?: NotApplied;
  /** Of a run that waits: for what. */
  readonly error?: RunError;
  /** Of a run that waits until then. */
  readonly nextAttemptAt?: Date;
  /** How often the provider gave nothing. */
  readonly failures: number;
  /** How often its replica died in the middle. */
  readonly lapses: number;
  /** The number of its latest claim: what an earlier one writes does not count any more. */
  readonly fence: number;
  readonly createdAt: Date;
  readonly startedAt?: Date;
  readonly completedAt?: Date;
}

/** All there is to a run. */
export interface TriageRun extends TriageRunSummary {
  readonly points?: readonly ScoredPoint[];
  readonly toolCalls?: readonly ToolCall[];
}

export function hasEnded({ status }: Pick<TriageRun, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

/** Who decides where no person does. */
export const SYSTEM = 'system';

/** A webhook source wants its incidents triaged: nobody asked who would look for the answer. */
export function noPersonAsked({ requestedBy }: Pick<TriageRunSummary, 'requestedBy'>): boolean {
  return requestedBy === SYSTEM || requestedBy.startsWith('webhook:');
}

/** The names of this module's events; its audit records have the same names. */
export const TRIAGE_EVENTS = {
  requested: 'triage.requested',
  completed: 'triage.completed',
  failed: 'triage.failed',
} as const;
