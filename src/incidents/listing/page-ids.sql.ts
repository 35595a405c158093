import { INCIDENT_STATUSES, SEVERITIES } from '../incident.js';
import type { FilterSql } from './list-filter.sql.js';

export type Direction = 'asc' | 'desc';

/** With more ranges than this, descending into each of them costs more than sorting. */
const MOST_RANGES = 36;

const ALL_STATUSES = INCIDENT_STATUSES.map((word) => `'${word}'::incident_status`);
const ALL_SEVERITIES = SEVERITIES.map((word) => `'${word}'::incident_severity`);

/**
 * The ids that match, in order, as a merge of index ranges that are each in order already: one for every combination
 * of a status, a severity and a type or source, or one for a type or source alone. PostgreSQL reads from them only as far as the page goes.
 *
 * `bound` stands in the text as a number, because the planner must know that few rows are wanted: from a parameter it
 * would expect a tenth of the table, and sort.
 */
export function orderedIds(
  filter: FilterSql,
  direction: Direction,
  bound: number,
): string | undefined {
  const ranges = rangesOf(filter);
  if (ranges.length > MOST_RANGES) return undefined;
  const created = filter.created.map((condition) => ` and ${condition}`).join('');
  const selects = ranges.map(
    (range) =>
      `(select id from incidents where deleted_at is null and ${range}${created} order by id ${direction})`,
  );
  return `select id from (${selects.join(' union all ')}) as range order by id ${direction} limit ${bound}`;
}

function rangesOf({ statuses, severities, types, source }: FilterSql): string[] {
  const first = source
    ? [`source = ${source}${types ? ` and incident_type = any(${types.all})` : ''}`]
    : types?.each.map((type) => `incident_type = ${type}`);
  // Alone, a type or a source has an index in the order of ids.
  if (first && !statuses && !severities) return first;
  const cells = (statuses?.each ?? ALL_STATUSES).flatMap((status) =>
    (severities?.each ?? ALL_SEVERITIES).map(
      (severity) => `status = ${status} and severity = ${severity}`,
    ),
  );
  return first ? first.flatMap((range) => cells.map((cell) => `${range} and ${cell}`)) : cells;
}

/** The next power of four, so that a few statements serve all pages. */
export function boundFor(rows: number): number {
  let bound = 256;
  while (bound < rows) bound *= 4;
  return bound;
}
