import { Column, Entity, PrimaryColumn } from 'typeorm';
import { columnsOf } from '../platform/database/columns.js';
import type {
  ProviderName,
  RunVerdict,
  ScoredPoint,
  ToolCall,
  UnavailableReason,
} from './model/triage-model.port.js';

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Failures that the service determines, with their messages. */
const OWN_MESSAGES = {
  kill_switch: 'The kill switch was turned on during the run.',
  incident_deleted: 'The incident was deleted.',
  interrupted: 'The service ended in the middle of the run four times.',
  not_needed: 'A person gave the verdict, or the incident was resolved, before triage began.',
  internal_error: 'The run ended in an error of the service. See the log of the service.',
} as const;
export const OWN_FAILURES = [...Object.keys(OWN_MESSAGES), 'discarded'];
type OwnFailure = keyof typeof OWN_MESSAGES;
export type FailureReason = UnavailableReason | OwnFailure | 'discarded';

export const failureOf = (reason: OwnFailure) => ({ reason, message: OWN_MESSAGES[reason] });

export interface RunError {
  readonly reason: FailureReason;
  readonly message: string;
}

export const NOT_APPLIED = ['verdict_by_person', 'incident_resolved'] as const;
export type NotApplied = (typeof NOT_APPLIED)[number];

/** Prefix of evidence from a later report, `report/<id>`. The pointer begins at `raw_data` of the report. */
export const REPORT = 'report/';

/** While a run is `queued`, its work row shows if an attempt is in progress, and when the next attempt begins. */
@Entity('triage_runs')
export class TriageRunEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'uuid' })
  readonly incident_id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly status: Exclude<RunStatus, 'running'>;

  @Column({ type: 'text' })
  readonly requested_by: string;

  @Column({ type: 'boolean', default: false })
  readonly force: boolean;

  @Column({ type: 'text', nullable: true })
  readonly playbook: string | null;

  @Column({ type: 'text', array: true, default: [] })
  readonly notes: readonly string[];

  @Column({ type: 'text' })
  readonly provider: ProviderName;

  @Column({ type: 'text', nullable: true })
  readonly model: string | null;

  @Column({ type: 'text', nullable: true })
  readonly prompt_hash: string | null;

  @Column({ type: 'integer', default: 0 })
  readonly input_tokens: number;

  @Column({ type: 'integer', default: 0 })
  readonly output_tokens: number;

  @Column({ type: 'integer', default: 0 })
  readonly cached_input_tokens: number;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly tokens_at: Date | null;

  @Column({ type: 'integer', nullable: true })
  readonly duration_ms: number | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly verdict: RunVerdict | null;

  @Column({ type: 'text', array: true, nullable: true })
  readonly recommended_actions: readonly string[] | null;

  @Column({ type: 'text', nullable: true })
  readonly not_applied: NotApplied | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly points: readonly ScoredPoint[] | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly tool_calls: readonly ToolCall[] | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly error: RunError | null;

  @Column({ type: 'integer', default: 0 })
  readonly failures: number;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly started_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly completed_at: Date | null;
}

export const RUN_COLUMNS = columnsOf(TriageRunEntity, []);
export const LISTED_COLUMNS = columnsOf(TriageRunEntity, ['points', 'tool_calls']);

export type TriageRun = Omit<TriageRunEntity, 'status' | 'points' | 'tool_calls'> &
  Partial<Pick<TriageRunEntity, 'points' | 'tool_calls'>> & {
    readonly status: RunStatus;
    /** Only for a run that waits because of an `error`. */
    readonly next_attempt_at?: Date | null;
  };

export const SYSTEM = 'system';

/** True if no person waits for the verdict, because a webhook source requested the triage. */
export function noPersonAsked({ requested_by }: Pick<TriageRun, 'requested_by'>): boolean {
  return requested_by === SYSTEM || requested_by.startsWith('webhook:');
}

export const TRIAGE_EVENTS = {
  requested: 'triage.requested',
  completed: 'triage.completed',
  failed: 'triage.failed',
} as const;
