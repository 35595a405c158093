import { sortWords } from '../../platform/paging/page.js';
import { isUtf8 } from 'node:buffer';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Choice, Id, Instant, Text, Texts, WholeNumber } from '../../platform/validation/fields.js';
import { WordList, Words } from '../../platform/validation/query-fields.js';
import { SOURCE_NAME } from '../sources/webhook-source.js';
import {
  WEBHOOK_EVENT_STATUSES,
  type WebhookEvent,
  type WebhookEventListRequest,
  type WebhookEventStatus,
  type WebhookEventWithBody,
} from './webhook-event.js';

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
    description: 'By the time of receipt. A `-` reverses the list.',
    example: 'created_at',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  static toRequest(this: void, query: WebhookEventQueryDto): WebhookEventListRequest {
    const { page, per_page, source, status, sort } = query;
    return {
      page,
      per_page,
      filter: {
        sources: source,
        statuses: status,
      },
      descending: sort === '-created_at',
    };
  }
}

/** What came, and what became of it. */
export class WebhookEventSummaryDto {
  @Id('WebhookEventId', {
    description: 'Also the `queue_id` of the answer to a receipt that was queued.',
  })
  readonly id: string;

  @Text({ example: 'email-gateway' })
  readonly source: string;

  @Choice('WebhookEventStatus', WEBHOOK_EVENT_STATUSES, {
    description:
      'queued: waits to be read. processed: made incidents. duplicate: repeats an earlier event, and made nothing. updated: changed the incident of an earlier event. failed: could not be read, or events of it could not be stored.',
    example: 'processed',
  })
  readonly status: WebhookEventStatus;

  @Id('IncidentId', {
    optional: true,
    description:
      'The incident that the event created or updated, or the incident of the event that it repeats. The first when there are several.',
    example: undefined,
  })
  readonly incident_id?: string;

  @Texts({
    optional: true,
    description: 'All its incidents, when there are several. A list shows the first 100.',
    contract: {
      type: 'array',
      items: { title: 'IncidentId', type: 'string', format: 'uuid' },
    },
  })
  readonly incident_ids?: readonly string[];

  @WholeNumber({
    optional: true,
    min: 2,
    description: 'Number of all its incidents, if there are several: a list leaves ids out.',
    example: 2,
  })
  readonly incident_count?: number;

  @Id('WebhookEventId', {
    optional: true,
    description:
      'The event that it repeats: the one with the same bytes, or else the first with the same id.',
    example: undefined,
  })
  readonly duplicate_of?: string;

  @Text({ optional: true, description: 'Why it failed.' })
  readonly error?: string;

  @WholeNumber({ min: 0, description: 'How many times the service tried to read it.', example: 1 })
  readonly attempts: number;

  @Instant({ example: TIME })
  readonly received_at: string;

  @Instant({
    optional: true,
    description: 'When it got its present status. Absent while it waits.',
  })
  readonly processed_at?: string;

  static from(this: void, event: WebhookEvent): WebhookEventSummaryDto {
    const { incidentIds } = event;
    return {
      id: event.id,
      source: event.source,
      status: event.status,
      incident_id: incidentIds[0],
      incident_ids: incidentIds.length > 1 ? incidentIds : undefined,
      incident_count: event.incidentCount > 1 ? event.incidentCount : undefined,
      duplicate_of: event.duplicateOf,
      error: event.error,
      attempts: event.attempts,
      received_at: event.receivedAt.toISOString(),
      processed_at: event.processedAt?.toISOString(),
    };
  }
}

export class WebhookEventDto extends WebhookEventSummaryDto {
  @Text({
    optional: true,
    description:
      'What was sent, exactly. Absent in a duplicate when the event that it repeats has the same bytes.',
  })
  readonly body?: string;

  @Choice('WebhookBodyEncoding', BODY_ENCODINGS, {
    optional: true,
    description: 'How to read `body`: as it is, or base64 where the bytes are not UTF-8.',
  })
  readonly body_encoding?: (typeof BODY_ENCODINGS)[number];

  static override from(this: void, event: WebhookEventWithBody): WebhookEventDto {
    return { ...WebhookEventSummaryDto.from(event), ...shownBody(event.body) };
  }
}

function shownBody(body: Buffer | undefined): Pick<WebhookEventDto, 'body' | 'body_encoding'> {
  if (!body) return {};
  const encoding = isUtf8(body) ? 'utf8' : 'base64';
  return { body: body.toString(encoding), body_encoding: encoding };
}
