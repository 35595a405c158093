import { isUtf8 } from 'node:buffer';
import { OmitType } from '@nestjs/swagger';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { PageQueryDto, sortWords } from '../../platform/paging/page.js';
import { Choice, Id, Instant, Text, Texts, WholeNumber } from '../../platform/validation/fields.js';
import { present } from '../../platform/validation/present.js';
import { WordList, Words } from '../../platform/validation/query-fields.js';
import { SOURCE_NAME } from '../sources/webhook-source.entity.js';

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
  @Id('WebhookEventId', { description: 'Also the `queue_id` of a queued delivery.' })
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Text({ example: 'email-gateway' })
  @Column({ type: 'text', collation: 'C' })
  readonly source: string;

  @Choice('WebhookEventStatus', WEBHOOK_EVENT_STATUSES, {
    description:
      'queued: a worker reads it later. processed: it created incidents. duplicate: it repeats an event and created nothing. updated: it changed the incident of an earlier event. failed: it could not be read or stored.',
    example: 'processed',
  })
  @Column({ type: 'text', collation: 'C' })
  readonly status: WebhookEventStatus;

  /** Exact bytes. Null for a duplicate whose bytes equal those of `duplicate_of`. */
  @Column({ type: 'bytea', nullable: true })
  readonly body: Buffer | null;

  @Column({ type: 'bytea' })
  readonly body_hash: Buffer;

  @Column({ type: 'uuid', array: true, default: [] })
  readonly incident_ids: readonly string[];

  @Id('WebhookEventId', {
    optional: true,
    description: 'Event with the same bytes, otherwise the first event with the same id.',
    example: undefined,
  })
  @Column({ type: 'uuid', nullable: true })
  readonly duplicate_of: string | null;

  @Text({ optional: true, description: 'Reason of the failure.' })
  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  @WholeNumber({ min: 0, description: 'Number of attempts to read it.', example: 1 })
  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  @Instant({ example: '2026-01-31T09:30:00.000Z' })
  @Column({ type: 'timestamptz', precision: 3 })
  readonly received_at: Date;

  @Instant({ optional: true, description: 'Absent while the event is queued.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly processed_at: Date | null;
}

export const NOT_LISTED = ['body', 'body_hash'] as const;

export interface ListedEvent extends Omit<WebhookEventEntity, (typeof NOT_LISTED)[number]> {
  /** Number of all incidents of the event. A list contains only the first incident ids. */
  readonly incident_count?: number;
}

export class WebhookEventSummaryDto extends OmitType(WebhookEventEntity, [
  ...NOT_LISTED,
  'incident_ids',
]) {
  @Id('IncidentId', {
    optional: true,
    description: 'First incident that the event, or the event that it repeats, created or updated.',
    example: undefined,
  })
  readonly incident_id?: string;

  @Texts({
    optional: true,
    description: 'All incidents, if there are several. A list shows the first 100.',
    contract: { type: 'array', items: { title: 'IncidentId', type: 'string', format: 'uuid' } },
  })
  readonly incident_ids?: readonly string[];

  @WholeNumber({ optional: true, min: 2, description: 'Number of all incidents.', example: 2 })
  readonly incident_count?: number;
}

const BODY_ENCODINGS = ['utf8', 'base64'] as const;

export class WebhookEventDto extends WebhookEventSummaryDto {
  @Text({ optional: true, description: 'Absent if `duplicate_of` has the same bytes.' })
  readonly body?: string;

  @Choice('WebhookBodyEncoding', BODY_ENCODINGS, {
    optional: true,
    description: 'base64 if the bytes of the body are not UTF-8.',
  })
  readonly body_encoding?: (typeof BODY_ENCODINGS)[number];
}

const presentSummary = present(WebhookEventSummaryDto);
const presentEvent = present(WebhookEventDto);

export const shownSummary = (event: ListedEvent): WebhookEventSummaryDto =>
  presentSummary({ ...event, ...incidentsOf(event) });

export function shownEvent({ body, ...event }: WebhookEventEntity): WebhookEventDto {
  const body_encoding: (typeof BODY_ENCODINGS)[number] = body && isUtf8(body) ? 'utf8' : 'base64';
  const shown = body && { body: body.toString(body_encoding), body_encoding };
  return presentEvent({ ...event, ...incidentsOf(event), ...shown });
}

function incidentsOf({ incident_ids, incident_count = incident_ids.length }: ListedEvent) {
  const isOne = incident_count < 2;
  return {
    incident_id: incident_ids[0],
    incident_ids: isOne ? null : incident_ids,
    incident_count: isOne ? null : incident_count,
  };
}

const SORTS = sortWords('created_at');

export class WebhookEventQueryDto extends PageQueryDto {
  @WordList(
    { word: SOURCE_NAME, what: 'the name of a source' },
    {
      optional: true,
      description: 'One source, or several separated by commas.',
      example: ['email-gateway'],
    },
  )
  readonly source?: readonly string[];

  @Words('WebhookEventStatus', WEBHOOK_EVENT_STATUSES, {
    optional: true,
    example: ['queued', 'failed'],
  })
  readonly status?: readonly WebhookEventStatus[];

  @Choice('WebhookEventSort', SORTS, {
    optional: true,
    default: '-created_at',
    description: 'By the time of receipt. A `-` reverses the order.',
    example: 'created_at',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';
}

@Entity('webhook_seen_events')
export class WebhookSeenEventEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  readonly source: string;

  /** SHA-256 of the sender's event id. */
  @PrimaryColumn({ type: 'bytea' })
  readonly event_key: Buffer;

  /** SHA-256 of each different content that was received for the event id, the first content first. */
  @Column({ type: 'bytea', array: true })
  readonly content_hashes: readonly Buffer[];

  @Column({ type: 'uuid' })
  readonly event_id: string;

  @Column({ type: 'uuid' })
  readonly incident_id: string;
}
