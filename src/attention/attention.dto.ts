import type { SchemaObject } from '@nestjs/swagger';
import { INCIDENT_STATUSES, SEVERITIES } from '../incidents/incident.js';
import type { IncidentStatus, Severity } from '../incidents/incident.js';
import { ROLES, type Role } from '../platform/access/roles.js';
import { LAST_PAGE } from '../platform/paging/page.js';
import {
  Choice,
  Id,
  Instant,
  Nested,
  NestedList,
  OpenChoice,
  Reason,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';
import { QueryInteger, WordList } from '../platform/validation/query-fields.js';
import {
  ATTENTION_KINDS,
  ATTENTION_SORTS,
  type AttentionKind,
  FIRST_OF_A_KIND,
  MOST_OF_A_KIND,
} from './attention-kinds.sql.js';

const MOST_ITEMS = 200;

const ItemId = () => Text({ contract: { title: 'AttentionItemId' } });

export class AttentionQueryDto {
  @WordList(
    {
      word: new RegExp(`^(${ATTENTION_KINDS.join('|')})$`),
      what: `one of ${ATTENTION_KINDS.join(', ')}`,
    },
    {
      optional: true,
      description: 'Returns only items of these kinds. The counts include all kinds.',
    },
  )
  readonly kind?: readonly AttentionKind[];

  @QueryInteger({ optional: true, min: 1, max: LAST_PAGE, default: 1 })
  readonly page: number = 1;

  @QueryInteger({
    optional: true,
    min: 1,
    max: MOST_ITEMS,
    description: 'Maximum number of items per page. Without it `limit` applies.',
  })
  readonly per_page?: number;

  @QueryInteger({
    optional: true,
    min: 1,
    max: MOST_ITEMS,
    default: 50,
    description: 'Another name for `per_page`, which wins if both are given.',
  })
  readonly limit: number = 50;

  @Choice('AttentionSort', ATTENTION_SORTS, {
    optional: true,
    default: '-urgency',
    description: `\`-urgency\`: the ${FIRST_OF_A_KIND} most urgent items of each kind first, then the others; both by the severity of their incident, then the newest first. An item without an incident ranks like one of a high incident. \`created_at\` is another name for \`at\`.`,
  })
  readonly sort: (typeof ATTENTION_SORTS)[number] = '-urgency';
}

export class AttentionIncidentDto {
  @Id('IncidentId')
  readonly id: string;

  @Text()
  readonly incident_number: string;

  @Text()
  readonly title: string;

  @Choice('Severity', SEVERITIES)
  readonly severity: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES)
  readonly status: IncidentStatus;
}

export class AttentionItemDto {
  @ItemId()
  readonly id: string;

  @OpenChoice('AttentionKind', ATTENTION_KINDS)
  readonly kind: string;

  @Text({ description: 'Name of the action, step, source, connector or channel.' })
  readonly name: string;

  @Text({ description: 'Reason of the failure.' })
  readonly reason: string;

  @Instant()
  readonly at: Date;

  @Choice('Role', ROLES, { description: 'Minimum role to mark the item as done.' })
  readonly role: Role;

  @Text({ description: 'Path of the resource.' })
  readonly link: string;

  @Nested(() => AttentionIncidentDto, { optional: true })
  readonly incident?: AttentionIncidentDto;
}

class AttentionCountDto {
  @OpenChoice('AttentionKind', ATTENTION_KINDS)
  readonly kind: string;

  @WholeNumber({
    min: 0,
    max: MOST_OF_A_KIND,
    description: `${MOST_OF_A_KIND} means this many or more.`,
  })
  readonly count: number;
}

export class AttentionDto {
  @WholeNumber({ min: 0, description: 'Number of items of the chosen kinds.' })
  readonly total: number;

  @NestedList(() => AttentionCountDto, {
    description: 'Counts by kind, for kinds that the caller may see.',
  })
  readonly counts: readonly AttentionCountDto[];

  @NestedList(() => AttentionItemDto, { description: 'A page of the items of the chosen kinds.' })
  readonly items: readonly AttentionItemDto[];
}

export const ATTENTION_ENVELOPE: SchemaObject = {
  type: 'object',
  required: ['data', 'meta'],
  properties: {
    data: { $ref: '#/components/schemas/AttentionDto' },
    meta: { $ref: '#/components/schemas/AttentionMeta' },
  },
  additionalProperties: false,
};

/** Separate schema, because a page of this list may be longer than pages of other lists. */
export class AttentionMeta {
  @WholeNumber({ min: 1, max: LAST_PAGE, description: 'Page number, from 1.' })
  readonly page: number;

  @WholeNumber({ min: 1, max: MOST_ITEMS })
  readonly per_page: number;

  @WholeNumber({ min: 0, description: 'Exact up to the limit of each count.' })
  readonly total: number;
}

export class AttentionDoneDto {
  @Reason({ max: 500 })
  readonly reason: string;
}

export class DoneAttentionItemDto {
  @ItemId()
  readonly id: string;

  @Text({ description: 'Principal who marked the item as done.' })
  readonly done_by: string;

  @Instant({ description: 'Time at which the item was marked as done.' })
  readonly done_at: Date;

  @Text()
  readonly reason: string;
}
