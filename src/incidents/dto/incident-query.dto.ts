import { SortWords } from '../../platform/paging/sort-query.js';
import { sortsOf, sortWords } from '../../platform/paging/sort-words.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Instant, Text } from '../../platform/validation/fields.js';
import { WordList, Words } from '../../platform/validation/query-fields.js';
import {
  type Classification,
  CLASSIFICATIONS,
  INCIDENT_STATUSES,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
} from '../incident.js';
import {
  type IncidentFilter,
  type IncidentListRequest,
  SORT_FIELDS,
  type SortField,
} from '../listing/incident-list.js';

const SORTS = sortWords(...SORT_FIELDS);

/** Of some sources in one text. */
const LONGEST_SOURCES = 2_000;

export class IncidentQueryDto extends PageQueryDto {
  @Words('IncidentStatus', INCIDENT_STATUSES, { optional: true, example: ['open', 'triaged'] })
  readonly status?: readonly IncidentStatus[];

  @Words('Severity', SEVERITIES, { optional: true, example: ['high', 'critical'] })
  readonly severity?: readonly Severity[];

  @WordList(
    { word: /^[a-z][a-z0-9_]{0,63}$/, what: 'an incident type' },
    {
      optional: true,
      description: 'One incident type, or several separated by commas.',
      example: ['phishing', 'bec'],
    },
  )
  readonly type?: readonly string[];

  @Text({
    optional: true,
    min: 1,
    max: LONGEST_SOURCES,
    description: 'Exactly this source, or one of several separated by commas.',
    example: 'email-gateway',
  })
  readonly source?: string;

  @Instant({
    optional: true,
    description:
      'Created strictly after this time: a created_at that was answered leaves its own incident out.',
    example: '2026-01-01T00:00:00Z',
  })
  readonly created_after?: string;

  @Instant({
    optional: true,
    description: 'Created strictly before this time.',
    example: '2027-01-01T00:00:00Z',
  })
  readonly created_before?: string;

  @WordList(
    { word: /^INC-\d{4}-\d{4,18}$/, what: 'the number of an incident, such as INC-2026-0042' },
    {
      optional: true,
      description: 'The number of one incident, or several separated by commas.',
      example: ['INC-2026-0042'],
    },
  )
  readonly number?: readonly string[];

  @Words('Classification', CLASSIFICATIONS, {
    optional: true,
    description:
      'By the verdict that they have now: one of these words, or several separated by commas.',
    example: ['malicious', 'suspicious'],
  })
  readonly classification?: readonly Classification[];

  @Instant({
    optional: true,
    description: 'Changed, or else created, strictly after this time.',
    example: '2026-01-31T09:30:00Z',
  })
  readonly updated_after?: string;

  @Instant({
    optional: true,
    description: 'Resolved strictly after this time, and not reopened since.',
    example: '2026-01-31T00:00:00Z',
  })
  readonly resolved_after?: string;

  @Instant({
    optional: true,
    description: 'Resolved strictly before this time, and not reopened since.',
    example: '2026-02-01T00:00:00Z',
  })
  readonly resolved_before?: string;

  @SortWords('IncidentSort', SORTS, {
    description:
      'severity sorts by rank, status by the alphabet; what has no triaged_at or resolved_at comes last either way.',
    example: ['-severity', 'created_at'],
  })
  readonly sort: readonly (typeof SORTS)[number][] = ['-created_at'];

  static toRequest(this: void, query: IncidentQueryDto): IncidentListRequest {
    return {
      page: query.page,
      per_page: query.per_page,
      filter: filterOf(query),
      sort: sortsOf<SortField>(query.sort),
    };
  }
}

function filterOf(query: IncidentQueryDto): IncidentFilter {
  return {
    statuses: query.status,
    severities: query.severity,
    types: query.type,
    sources: query.source === undefined ? undefined : sourcesIn(query.source),
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    numbers: query.number,
    classifications: query.classification,
    updatedAfter: query.updated_after,
    resolvedAfter: query.resolved_after,
    resolvedBefore: query.resolved_before,
  };
}

/** A source may have a comma in its name. */
function sourcesIn(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  return [...new Set([text, ...parts.filter((part) => part !== '')])];
}
