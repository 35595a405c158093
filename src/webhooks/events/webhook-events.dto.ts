import { isUtf8 } from 'node:buffer';
import { sortWords, PageQueryDto } from '../../platform/paging/page.js';
import { Choice, Id, Instant, Text, Texts, WholeNumber } from '../../platform/validation/fields.js';
import { present } from '../../platform/validation/present.js';
import { WordList, Words } from '../../platform/validation/query-fields.js';
import { SOURCE_NAME } from '../sources/webhook-source.entity.js';
import {
  type ListedEvent,
  WEBHOOK_EVENT_STATUSES,
  type WebhookEventEntity,
  type WebhookEventStatus,
} from './webhook-event.entity.js';

const SORTS = sortWords('created_at');
const BODY_ENCODINGS = ['utf8', 'base64'] as const;
const TIME = '2026-01-31T09:30:00.000Z';

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

export class WebhookEventSummaryDto {
  @Id('WebhookEventId', { description: 'Also the `queue_id` of a queued delivery.' })
  readonly id: string;

  @Text({ example: 'email-gateway' })
  readonly source: string;

  @Choice('WebhookEventStatus', WEBHOOK_EVENT_STATUSES, {
    description:
      'queued: a worker reads it later. processed: it created incidents. duplicate: it repeats an event and created nothing. updated: it changed the incident of an earlier event. failed: it could not be read or stored.',
    example: 'processed',
  })
  readonly status: WebhookEventStatus;

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

  @Id('WebhookEventId', {
    optional: true,
    description: 'Event with the same bytes, otherwise the first event with the same id.',
    example: undefined,
  })
  readonly duplicate_of?: string;

  @Text({ optional: true, description: 'Reason of the failure.' })
  readonly error?: string;

  @WholeNumber({ min: 0, description: 'Number of attempts to read it.', example: 1 })
  readonly attempts: number;

  @Instant({ example: TIME })
  readonly received_at: Date;

  @Instant({ optional: true, description: 'Absent while the event is queued.' })
  readonly processed_at?: Date;
}

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
