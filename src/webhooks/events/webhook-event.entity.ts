import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { SettlingProgress } from '../receipt/settling-progress.js';
import type { WebhookEventStatus } from './webhook-event.js';

/** One receipt. The body is left out of reads that do not ask for it. */
@Entity('webhook_events')
@Check(
  'ck_webhook_events_status',
  `status in ('queued', 'processed', 'duplicate', 'updated', 'failed')`,
)
@Index('ix_webhook_events_status', ['status', 'id'])
@Index('ix_webhook_events_source_status', ['source', 'status', 'id'])
@Index('ix_webhook_events_failed', ['source', 'processed_at'], { where: `status = 'failed'` })
@Index('uq_webhook_events_unsettled', ['source', 'body_hash'], {
  unique: true,
  where: `status in ('queued', 'failed')`,
})
export class WebhookEventEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_webhook_events' })
  readonly id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly source: string;

  @Column({ type: 'text', collation: 'C' })
  readonly status: WebhookEventStatus;

  /** Exact bytes. Null for a duplicate with the same bytes as `duplicate_of`. */
  @Column({ type: 'bytea', nullable: true, select: false })
  readonly body: Buffer | null;

  /** SHA-256 of the body. */
  @Column({ type: 'bytea' })
  readonly body_hash: Buffer;

  /** Incidents that the receipt created or updated, or that the first receipt of a duplicate created. */
  @Column({ type: 'uuid', array: true, default: [] })
  readonly incident_ids: readonly string[];

  @Column({ type: 'uuid', nullable: true })
  readonly duplicate_of: string | null;

  /** Reason of the failure, for analysts. */
  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  /** While a body of many events is settled in parts. */
  @Column({ type: 'jsonb', nullable: true })
  readonly progress: SettlingProgress | null;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly received_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly processed_at: Date | null;
}

/** Key and contents of a received event, by which a repetition is recognised. */
@Entity('webhook_seen_events')
export class WebhookSeenEventEntity {
  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_webhook_seen_events',
  })
  readonly source: string;

  /** SHA-256 of the sender's id of the event. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'pk_webhook_seen_events' })
  readonly event_key: Buffer;

  /** SHA-256 of each content of the event, the first content first. */
  @Column({ type: 'bytea', array: true })
  readonly content_hashes: readonly Buffer[];

  /** First receipt of the event. */
  @Column({ type: 'uuid' })
  readonly event_id: string;

  @Column({ type: 'uuid' })
  readonly incident_id: string;
}
