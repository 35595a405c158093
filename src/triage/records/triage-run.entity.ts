import {
  Check,
  Column,
  Entity,
  ForeignKey,
  getMetadataArgsStorage,
  Index,
  PrimaryColumn,
} from 'typeorm';
import type { ProviderName, ScoredPoint, ToolCall } from '../model/triage-model.port.js';
import type { NotApplied, RunError, RunStatus, RunVerdict, TriageRun } from '../triage-run.js';

const OPEN = `status in ('queued', 'running')`;

@Entity('triage_runs')
@Check('ck_triage_runs_status', `status in ('queued', 'running', 'completed', 'failed')`)
@Check('ck_triage_runs_ended', `(completed_at is not null) = (status in ('completed', 'failed'))`)
@Check('ck_triage_runs_lease', `(lease_until is not null) = (${OPEN})`)
@Check('ck_triage_runs_verdict', `(verdict is not null) = (status = 'completed')`)
@Index('ix_triage_runs_incident', ['incident_id', 'id'])
@Index('uq_triage_runs_open', ['incident_id'], { unique: true, where: OPEN })
@Index('ix_triage_runs_failed', ['id'], { where: `status = 'failed'` })
@Index('ix_triage_runs_lease', ['status', 'lease_until', 'id'], { where: OPEN })
@Index('ix_triage_runs_tokens', ['tokens_at'], { where: 'tokens_at is not null' })
export class TriageRunEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_triage_runs' })
  readonly id: string;

  @Column({ type: 'uuid' })
  @ForeignKey('incidents', { name: 'fk_triage_runs_incident' })
  readonly incident_id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly status: RunStatus;

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

  /** When tokens were used last: null for a run that used none. */
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

  /** As large as what the tools answered, like the calls: lists leave both out. */
  @Column({ type: 'jsonb', nullable: true, select: false })
  readonly points: readonly ScoredPoint[] | null;

  @Column({ type: 'jsonb', nullable: true, select: false })
  readonly tool_calls: readonly ToolCall[] | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly error: RunError | null;

  @Column({ type: 'integer', default: 0 })
  readonly failures: number;

  @Column({ type: 'integer', default: 0 })
  readonly lapses: number;

  @Column({ type: 'integer', default: 0 })
  readonly fence: number;

  /** Running: until when the claim counts. Queued: not to be begun before. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly lease_until: Date | null;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly started_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly completed_at: Date | null;
}

const columns = getMetadataArgsStorage().filterColumns(TriageRunEntity);

/** All columns, for statements. */
export const WHOLE_COLUMNS = columns.map(({ propertyName }) => `run.${propertyName}`).join(', ');
/** The columns that lists read. */
export const LISTED_COLUMNS = columns
  .filter(({ options }) => options.select !== false)
  .map(({ propertyName }) => `run.${propertyName}`)
  .join(', ');

/** Calls and points are absent where a read left them out. */
export type RunRow = Omit<TriageRunEntity, 'points' | 'tool_calls'> &
  Partial<Pick<TriageRunEntity, 'points' | 'tool_calls'>>;

export function runOf(row: RunRow): TriageRun {
  const waitsForTime =
    row.status === 'queued' && row.error && row.error.reason !== 'not_configured';
  return {
    id: row.id,
    incidentId: row.incident_id,
    status: row.status,
    requestedBy: row.requested_by,
    force: row.force,
    playbook: row.playbook ?? undefined,
    notes: row.notes,
    provider: row.provider,
    model: row.model ?? undefined,
    promptHash: row.prompt_hash ?? undefined,
    tokens: {
      input: row.input_tokens,
      output: row.output_tokens,
      cachedInput: row.cached_input_tokens,
    },
    durationMs: row.duration_ms ?? undefined,
    verdict: row.verdict ?? undefined,
    recommendedActions: row.recommended_actions ?? undefined,
    notApplied: row.not_applied ?? undefined,
    points: row.points ?? undefined,
    toolCalls: row.tool_calls ?? undefined,
    error: row.error ?? undefined,
    nextAttemptAt: waitsForTime ? (row.lease_until ?? undefined) : undefined,
    failures: row.failures,
    lapses: row.lapses,
    fence: row.fence,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    completedAt: row.completed_at ?? undefined,
  };
}
