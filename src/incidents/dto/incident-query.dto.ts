import { sortWords } from '../../platform/paging/sort-words.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Choice, Instant, Text } from '../../platform/validation/fields.js';
import { WordList, Words } from '../../platform/validation/query-fields.js';
import { INCIDENT_STATUSES, type IncidentStatus, SEVERITIES, type Severity } from '../incident.js';
import { type IncidentListRequest, SORT_FIELDS, type SortField } from '../listing/incident-list.js';
import { LONGEST_SOURCE } from './create-incident.dto.js';

const SORTS = sortWords(...SORT_FIELDS);

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
    max: LONGEST_SOURCE,
    description: 'Exactly this source.',
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

  @Choice('IncidentSort', SORTS, {
    optional: true,
    default: '-created_at',
    description:
      'severity sorts by rank. A `-` reverses the list; equal keys are in the order of their ids; what has no triaged_at comes last either way.',
    example: '-severity',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  static toRequest(this: void, query: IncidentQueryDto): IncidentListRequest {
    const { page, per_page, status, severity, type, source, created_after, created_before } = query;
    return {
      page,
      per_page,
      filter: {
        statuses: status,
        severities: severity,
        types: type,
        source,
        createdAfter: created_after,
        createdBefore: created_before,
      },
      sort: {
        field: query.sort.replace('-', '') as SortField,
        descending: query.sort.startsWith('-'),
      },
    };
  }
}
