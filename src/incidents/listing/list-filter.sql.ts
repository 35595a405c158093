import {
  type Choice,
  choiceOf,
  type StatementValues,
} from '../../platform/counting/counted-list.sql.js';
import { endIdBefore, endMs, firstIdAfter, wholeMs } from '../../platform/paging/id-times.js';
import { type ChosenValues, valueConditions } from '../counting/counts.sql.js';
import { INCIDENT_STATUSES, SEVERITIES } from '../incident.js';
import type { IncidentFilter } from './incident-list.js';

/** A filter as SQL. */
export interface FilterSql {
  readonly chosen: ChosenValues;
  /** What incidents are not counted by. Conditions on created_at are on the id, which begins with it. */
  readonly uncounted: readonly string[];
}

export function filterSql(filter: IncidentFilter, values: StatementValues): FilterSql {
  const status = choiceOf(filter.statuses, 'incident_status', values, INCIDENT_STATUSES.length);
  const severity = choiceOf(filter.severities, 'incident_severity', values, SEVERITIES.length);
  const incident_type = choiceOf(filter.types, 'text', values);
  const [one, ...more] = filter.sources ?? [];
  const source: Choice | undefined =
    one === undefined || more.length > 0
      ? choiceOf(filter.sources, 'text', values)
      : { each: [values.add(one, 'text')] };
  return {
    chosen: { source, incident_type, severity, status },
    uncounted: uncountedConditions(filter, values),
  };
}

function uncountedConditions(filter: IncidentFilter, values: StatementValues): string[] {
  const { createdAfter, createdBefore, updatedAfter, resolvedAfter, resolvedBefore } = filter;
  const { numbers, classifications } = filter;
  const time = (ms: number) => values.add(new Date(ms), 'timestamptz');
  return [
    ...(createdAfter ? [`id >= ${values.add(firstIdAfter(createdAfter), 'uuid')}`] : []),
    ...(createdBefore ? [`id < ${values.add(endIdBefore(createdBefore), 'uuid')}`] : []),
    ...(updatedAfter ? [`updated_at > ${time(wholeMs(updatedAfter))}`] : []),
    ...(resolvedAfter ? [`resolved_at > ${time(wholeMs(resolvedAfter))}`] : []),
    ...(resolvedBefore ? [`resolved_at < ${time(endMs(resolvedBefore))}`] : []),
    ...(numbers ? [numberedAs(numbers, values)] : []),
    ...(classifications ? [`classification = any(${values.add(classifications, 'text[]')})`] : []),
  ];
}

/** The sequence alone finds them, by an index; that year and zeros are right, too, the whole number tells (see incidentNumber). */
function numberedAs(numbers: readonly string[], values: StatementValues): string {
  const sequences = numbers.map((number) => number.slice(number.lastIndexOf('-') + 1));
  return `number = any(${values.add(sequences, 'bigint[]')})
    and ${NUMBER} = any(${values.add(numbers, 'text[]')})`;
}

const NUMBER = `'INC-' || to_char(created_at at time zone 'UTC', 'YYYY') || '-'
    || lpad(number::text, greatest(length(number::text), 4), '0')`;

export function conditionsOf({ chosen, uncounted }: FilterSql): string[] {
  return ['deleted_at is null', ...valueConditions(chosen), ...uncounted];
}

export function hasChoice({ chosen }: FilterSql): boolean {
  return Object.values(chosen).some((choice) => choice !== undefined);
}
