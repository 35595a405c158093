import {
  Check,
  Column,
  Entity,
  ForeignKey,
  getMetadataArgsStorage,
  Index,
  PrimaryColumn,
} from 'typeorm';
import type { Classification, Evidence, Indicator } from '../incidents/incident.js';
import type {
  ProviderName,
  ScoredPoint,
  ToolCall,
  UnavailableReason,
} from './model/triage-model.port.js';

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Why a run failed, beside the reasons of the provider. */
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

const OPEN = `status = 'queued'`;

/** While a run is `queued`, a row of `work` tells whether it is under way, and when it is tried again. */
@Entity('triage_runs')
@Check('ck_triage_runs_status', `status in ('queued', 'completed', 'failed')`)
@Check('ck_triage_runs_ended', `(completed_at is null) = (${OPEN})`)
@Check('ck_triage_runs_verdict', `(verdict is not null) = (status = 'completed')`)
@Index('ix_triage_runs_incident', ['incident_id', 'id'])
@Index('uq_triage_runs_open', ['incident_id'], { unique: true, where: OPEN })
@Index('ix_triage_runs_failed', ['id'], { where: `status = 'failed'` })
@Index('ix_triage_runs_tokens', ['tokens_at'], { where: 'tokens_at is not null' })
export class TriageRunEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_triage_runs' })
  readonly id: string;

  @Column({ type: 'uuid' })
  @ForeignKey('incidents', { name: 'fk_triage_runs_incident' })
  readonly incident_id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly status: Exclude<RunStatus, 'running'>;

  /** The principal who asked for it: a person, or the webhook source that wants its incidents triaged. */
  @Column({ type: 'text' })
  readonly requested_by: string;

  /** The run may replace a verdict that a person gave, and the verdict of a resolved incident. */
  @Column({ type: 'boolean', default: false })
  readonly force: boolean;

  @Column({ type: 'text', nullable: true })
  readonly playbook: string | null;

  /** Facts for readers, such as that its playbook was missing. */
  @Column({ type: 'text', array: true, default: [] })
  readonly notes: readonly string[];

  @Column({ type: 'text' })
  readonly provider: ProviderName;

  @Column({ type: 'text', nullable: true })
  readonly model: string | null;

  @Column({ type: 'text', nullable: true })
  readonly prompt_hash: string | null;

  /** Tokens of all attempts. */
  @Column({ type: 'integer', default: 0 })
  readonly input_tokens: number;

  @Column({ type: 'integer', default: 0 })
  readonly output_tokens: number;

  @Column({ type: 'integer', default: 0 })
  readonly cached_input_tokens: number;

  /** When tokens were used last: null for a run that used none. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly tokens_at: Date | null;

  /** Duration of the attempt that ended the run. */
  @Column({ type: 'integer', nullable: true })
  readonly duration_ms: number | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly verdict: RunVerdict | null;

  @Column({ type: 'text', array: true, nullable: true })
  readonly recommended_actions: readonly string[] | null;

  @Column({ type: 'text', nullable: true })
  readonly not_applied: NotApplied | null;

  /** As large as the answers of the tools, like the calls: lists leave both out. */
  @Column({ type: 'jsonb', nullable: true, select: false })
  readonly points: readonly ScoredPoint[] | null;

  @Column({ type: 'jsonb', nullable: true, select: false })
  readonly tool_calls: readonly ToolCall[] | null;

  /** Why the run failed, or why its last attempt did. */
  @Column({ type: 'jsonb', nullable: true })
  readonly error: RunError | null;

  /** How many attempts got no verdict of the provider. */
  @Column({ type: 'integer', default: 0 })
  readonly failures: number;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly started_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly completed_at: Date | null;
}

const columns = getMetadataArgsStorage().filterColumns(TriageRunEntity);
export const RUN_COLUMNS = columns.map(({ propertyName }) => propertyName);
/** The columns that lists read. */
export const LISTED_COLUMNS = columns
  .filter(({ options }) => options.select !== false)
  .map(({ propertyName }) => propertyName);

/** A run as readers see it. `points` and `tool_calls` are absent where a read left them out. */
export type TriageRun = Omit<TriageRunEntity, 'status' | 'points' | 'tool_calls'> &
  Partial<Pick<TriageRunEntity, 'points' | 'tool_calls'>> & {
    readonly status: RunStatus;
    /** Only of a run that waits because of an `error`. */
    readonly next_attempt_at?: Date | null;
  };

/** The principal of decisions without a person. */
export const SYSTEM = 'system';

/** Whether nobody looks for the answer, because a webhook source wants its incidents triaged. */
export function noPersonAsked({ requested_by }: Pick<TriageRun, 'requested_by'>): boolean {
  return requested_by === SYSTEM || requested_by.startsWith('webhook:');
}

/** Names of the events and audit records of this module. */
export const TRIAGE_EVENTS = {
  requested: 'triage.requested',
  completed: 'triage.completed',
  failed: 'triage.failed',
} as const;
