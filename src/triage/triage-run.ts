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
