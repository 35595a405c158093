import {
  after,
  anyOf,
  before,
  BY_ID,
  countedList,
  createdAfter,
  createdBefore,
  type StatementValues,
} from '../platform/counting/counted-list.js';
import { sortWords, PageQueryDto, SortWords } from '../platform/paging/page.js';
import { Instant, Text } from '../platform/validation/fields.js';
import { WordList, Words } from '../platform/validation/query-fields.js';
import {
  type Classification,
  CLASSIFICATIONS,
  INCIDENT_NUMBER,
  INCIDENT_STATUSES,
  INCIDENT_TYPE,
  type IncidentStatus,
  LISTED_COLUMNS,
  sequenceIn,
  SEVERITIES,
  type Severity,
} from './incident.js';

const INCIDENT_SORTS = {
  created_at: BY_ID,
  updated_at: { column: 'updated_at' },
  triaged_at: { column: 'triaged_at', nullable: true },
  severity: { column: 'severity' },
  status: { column: 'status' },
  incident_type: { column: 'incident_type' },
  source: { column: 'source' },
  incident_number: { column: 'number', unique: true },
  resolved_at: { column: 'resolved_at', nullable: true },
} as const;
export const SORT_FIELDS = Object.keys(INCIDENT_SORTS) as (keyof typeof INCIDENT_SORTS)[];

export const incidentList = countedList({
  table: 'incidents',
  columns: [...LISTED_COLUMNS, 'triaged_at', 'number'].join(', '),
  where: 'deleted_at is null',
  counts: 'incident',
  counted: {
    source: { filter: 'source', type: 'text' },
    incident_type: { filter: 'type', type: 'text' },
    status: { filter: 'status', type: 'incident_status', with: 'severity' },
    severity: { filter: 'severity', type: 'incident_severity', with: 'status' },
  },
  filters: {
    created_after: createdAfter,
    created_before: createdBefore,
    number: isNumbered,
    classification: anyOf('classification', 'text'),
    updated_after: after('updated_at'),
    resolved_after: after('resolved_at'),
    resolved_before: before('resolved_at'),
  },
  sorts: INCIDENT_SORTS,
});
export type IncidentListRequest = Parameters<typeof incidentList>[0];

/** Finds incidents by the indexed sequence, then compares the whole number. */
function isNumbered(numbers: readonly string[], values: StatementValues): string {
  return `number = any(${values.add(numbers.map(sequenceIn), 'bigint[]')})
    and incident_number = any(${values.add(numbers, 'text[]')})`;
}

const SORTS = sortWords(...SORT_FIELDS);

const LONGEST_SOURCES = 2_000;

export class IncidentQueryDto extends PageQueryDto {
  @Words('IncidentStatus', INCIDENT_STATUSES, { optional: true })
  readonly status?: readonly IncidentStatus[];

  @Words('Severity', SEVERITIES, { optional: true })
  readonly severity?: readonly Severity[];

  @WordList(
    { word: INCIDENT_TYPE, what: 'an incident type' },
    {
      optional: true,
      description: 'Incident type, or several types separated by commas.',
    },
  )
  readonly type?: readonly string[];

  @Text({
    optional: true,
    min: 1,
    max: LONGEST_SOURCES,
    description: 'Exact source, or several sources separated by commas.',
  })
  readonly source?: string;

  @Instant({
    optional: true,
    description:
      'Created after this time. An incident with exactly this created_at is not included.',
  })
  readonly created_after?: string;

  @Instant({ optional: true, description: 'Created before this time.' })
  readonly created_before?: string;

  @WordList(
    { word: INCIDENT_NUMBER, what: 'the number of an incident, such as INC-2026-0042' },
    {
      optional: true,
      description: 'Incident number, or several numbers separated by commas.',
    },
  )
  readonly number?: readonly string[];

  @Words('Classification', CLASSIFICATIONS, {
    optional: true,
    description: 'Classification of the current verdict, or several separated by commas.',
  })
  readonly classification?: readonly Classification[];

  @Instant({ optional: true, description: 'Changed or created after this time.' })
  readonly updated_after?: string;

  @Instant({ optional: true, description: 'Resolved after this time, and not reopened since.' })
  readonly resolved_after?: string;

  @Instant({ optional: true, description: 'Resolved before this time, and not reopened since.' })
  readonly resolved_before?: string;

  @SortWords('IncidentSort', SORTS, {
    description:
      'severity sorts by rank, status alphabetically. Incidents without triaged_at or resolved_at come last in both directions.',
  })
  readonly sort: readonly (typeof SORTS)[number][] = ['-created_at'];

  static toRequest(this: void, query: IncidentQueryDto): IncidentListRequest {
    const { source } = query;
    return { ...query, source: source === undefined ? undefined : sourcesIn(source) };
  }
}

/** Returns the parts and also the whole text, because the name of a source may contain a comma. */
function sourcesIn(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  return [...new Set([text, ...parts.filter((part) => part !== '')])];
}
