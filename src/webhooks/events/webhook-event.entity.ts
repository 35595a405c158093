import { Column, Entity, PrimaryColumn } from 'typeorm';

export const WEBHOOK_EVENT_STATUSES = [
  'queued',
  'processed',
  'duplicate',
  'updated',
  'failed',
] as const;
export type WebhookEventStatus = (typeof WEBHOOK_EVENT_STATUSES)[number];

export const UNSETTLED = ['queued', 'failed'] as const satisfies readonly WebhookEventStatus[];

@Entity('webhook_events')
export class WebhookEventEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly source: string;

  @Column({ type: 'text', collation: 'C' })
  readonly status: WebhookEventStatus;

  /** Exact bytes. Null for a duplicate with the same bytes as `duplicate_of`. */
  @Column({ type: 'bytea', nullable: true })
  readonly body: Buffer | null;

  @Column({ type: 'bytea' })
  readonly body_hash: Buffer;

  @Column({ type: 'uuid', array: true, default: [] })
  readonly incident_ids: readonly string[];

  @Column({ type: 'uuid', nullable: true })
  readonly duplicate_of: string | null;

  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly received_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly processed_at: Date | null;
}

export const NOT_LISTED = ['body', 'body_hash'] as const;

export interface ListedEvent extends Omit<WebhookEventEntity, (typeof NOT_LISTED)[number]> {
  /** Number of incidents. A list has only the first ids. */
  readonly incident_count?: number;
}

@Entity('webhook_seen_events')
export class WebhookSeenEventEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  readonly source: string;

  /** SHA-256 of the event id of the sender. */
  @PrimaryColumn({ type: 'bytea' })
  readonly event_key: Buffer;

  /** SHA-256 of each content of the event, beginning with the first content. */
  @Column({ type: 'bytea', array: true })
  readonly content_hashes: readonly Buffer[];

  @Column({ type: 'uuid' })
  readonly event_id: string;

  @Column({ type: 'uuid' })
  readonly incident_id: string;
}
