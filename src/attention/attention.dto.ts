import { INCIDENT_STATUSES, SEVERITIES } from '../incidents/incident.js';
import type { IncidentStatus, Severity } from '../incidents/incident.js';
import { ROLES, type Role } from '../platform/access/roles.js';
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
  type Attention,
  ATTENTION_KINDS,
  attentionId,
  type AttentionIncident,
  type AttentionItem,
  type AttentionKind,
  mayMend,
} from './attention.js';
import { MOST_OF_A_KIND } from './attention-kinds.sql.js';
import type { AttentionMarkEntity } from './attention-mark.entity.js';

const MOST_ITEMS = 200;

const ItemId = () =>
  Text({
    example: 'action_failed.act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
    contract: { title: 'AttentionItemId' },
  });

export class AttentionQueryDto {
  @WordList(
    {
      word: new RegExp(`^(${ATTENTION_KINDS.join('|')})$`),
      what: `one of ${ATTENTION_KINDS.join(', ')}`,
    },
    {
      optional: true,
      description: 'Items of these kinds alone. The counts are of all kinds.',
      example: ['action_failed'],
    },
  )
  readonly kind?: readonly AttentionKind[];

  @QueryInteger({
    optional: true,
    min: 1,
    max: MOST_ITEMS,
    default: 50,
    description: 'How many items at most.',
  })
  readonly limit: number = 50;
}

export class AttentionIncidentDto {
  @Id('IncidentId')
  readonly id: string;

  @Text({ example: 'INC-2026-0042' })
  readonly incident_number: string;

  @Text({ example: 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com' })
  readonly title: string;

  @Choice('Severity', SEVERITIES, { example: 'high' })
  readonly severity: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES, { example: 'open' })
  readonly status: IncidentStatus;

  static from(this: void, incident: AttentionIncident): AttentionIncidentDto {
    const { id, incidentNumber, title, severity, status } = incident;
    return { id, incident_number: incidentNumber, title, severity, status };
  }
}

export class AttentionItemDto {
  @ItemId()
  readonly id: string;

  @OpenChoice('AttentionKind', ATTENTION_KINDS, { example: 'action_failed' })
  readonly kind: string;

  @Text({
    description: 'Which action, step, source, connector or channel.',
    example: 'isolate_host',
  })
  readonly name: string;

  @Text({ description: 'Why it did not happen.', example: 'The vendor answered with status 500.' })
  readonly reason: string;

  @Instant({ example: '2026-01-31T09:31:00.000Z' })
  readonly at: string;

  @Choice('Role', ROLES, { description: 'The least role that may mend it.', example: 'analyst' })
  readonly role: Role;

  @Text({
    description: 'Where it is read.',
    example: '/api/actions/act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  })
  readonly link: string;

  @Nested(() => AttentionIncidentDto, { optional: true })
  readonly incident?: AttentionIncidentDto;

  static from(this: void, item: AttentionItem): AttentionItemDto {
    const { kind, name, reason, at, link, incident } = item;
    return {
      id: attentionId(item),
      kind,
      name,
      reason,
      at: at.toISOString(),
      role: mayMend(kind),
      link,
      incident: incident && AttentionIncidentDto.from(incident),
    };
  }
}

export class AttentionCountDto {
  @OpenChoice('AttentionKind', ATTENTION_KINDS, { example: 'action_failed' })
  readonly kind: string;

  @WholeNumber({
    min: 0,
    max: MOST_OF_A_KIND,
    description: `${MOST_OF_A_KIND} stands for more.`,
    example: 3,
  })
  readonly count: number;
}

export class AttentionDto {
  @WholeNumber({ min: 0, description: 'The sum of the counts.', example: 3 })
  readonly total: number;

  @NestedList(() => AttentionCountDto, { description: 'Of each kind that the caller may see.' })
  readonly counts: readonly AttentionCountDto[];

  @NestedList(() => AttentionItemDto, {
    description: 'Those of the most severe incidents first, then the newest.',
  })
  readonly items: readonly AttentionItemDto[];

  static from(this: void, { counts, items }: Attention): AttentionDto {
    return {
      total: counts.reduce((sum, { count }) => sum + count, 0),
      counts: counts.map(({ kind, count }) => ({ kind, count })),
      items: items.map(AttentionItemDto.from),
    };
  }
}

export class AttentionDoneDto {
  @Reason({ max: 500, example: 'Isolated by hand in the console of the vendor.' })
  readonly reason: string;
}

export class DoneAttentionItemDto {
  @ItemId()
  readonly id: string;

  @Text({ example: 'alice' })
  readonly done_by: string;

  @Instant({ example: '2026-01-31T09:40:00.000Z' })
  readonly done_at: string;

  @Text({ example: 'Isolated by hand in the console of the vendor.' })
  readonly reason: string;

  static from(this: void, mark: AttentionMarkEntity): DoneAttentionItemDto {
    const { done_by, done_at, reason } = mark;
    return { id: attentionId(mark), done_by, done_at: done_at.toISOString(), reason };
  }
}
