import { endIdBefore, firstIdAfter } from '../incident-ids.js';
import { INCIDENT_STATUSES, SEVERITIES } from '../incident.js';
import type { IncidentFilter } from './incident-list.js';

/** Collects the values of a statement while its text is written. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

/** A filter as SQL: each chosen dimension as the expressions of its values, one by one and as an array. */
export interface FilterSql {
  readonly statuses?: Choice;
  readonly severities?: Choice;
  readonly types?: Choice;
  readonly source?: string;
  /** Conditions on the id: created_at is where ids begin. */
  readonly created: readonly string[];
}

export interface Choice {
  readonly each: readonly string[];
  readonly all: string;
}

export function filterSql(filter: IncidentFilter, parameters: Parameters): FilterSql {
  const statuses = choice(filter.statuses, 'incident_status', parameters, INCIDENT_STATUSES.length);
  const severities = choice(filter.severities, 'incident_severity', parameters, SEVERITIES.length);
  const types = choice(filter.types, 'text', parameters);
  const { source, createdAfter, createdBefore } = filter;
  return {
    statuses,
    severities,
    types,
    ...(source !== undefined && { source: parameters.add(source, 'text') }),
    created: [
      ...(createdAfter ? [`id >= ${parameters.add(firstIdAfter(createdAfter), 'uuid')}`] : []),
      ...(createdBefore ? [`id < ${parameters.add(endIdBefore(createdBefore), 'uuid')}`] : []),
    ],
  };
}

/** A choice of all that there is chooses nothing. */
function choice(
  chosen: readonly string[] | undefined,
  type: string,
  parameters: Parameters,
  all = Infinity,
): Choice | undefined {
  const values = [...new Set(chosen)];
  if (values.length === 0 || values.length === all) return undefined;
  const array = parameters.add(values, `${type}[]`);
  return { all: array, each: values.map((_, index) => `(${array})[${index + 1}]`) };
}

export function conditionsOf(filter: FilterSql): string {
  const { statuses, severities, types, source, created } = filter;
  return [
    'deleted_at is null',
    ...(statuses ? [`status = any(${statuses.all})`] : []),
    ...(severities ? [`severity = any(${severities.all})`] : []),
    ...(types ? [`incident_type = any(${types.all})`] : []),
    ...(source ? [`source = ${source}`] : []),
    ...created,
  ].join(' and ');
}
