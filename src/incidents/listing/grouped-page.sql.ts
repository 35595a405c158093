import type { SortField } from './incident-list.js';
import type { FilterSql } from './list-filter.sql.js';
import { type Direction, orderedIds } from './page-ids.sql.js';

export type GroupField = 'severity' | 'status' | 'incident_type' | 'source';

const TYPE_OF: Readonly<Record<GroupField, string>> = {
  severity: 'incident_severity',
  status: 'incident_status',
  incident_type: 'text collate "C"',
  source: 'text collate "C"',
};

export function isGrouped(field: SortField): field is GroupField {
  return field in TYPE_OF;
}

interface GroupedPage {
  readonly field: GroupField;
  readonly filter: FilterSql;
  readonly direction: Direction;
  readonly bound: number;
  readonly skip: string;
  readonly take: string;
}

/**
 * Sorted by a dimension: its values one after the other, each with its ids in order. The counts tell in which value the
 * page begins, so that the ones before it are not read.
 */
export function groupedPage(page: GroupedPage): { with: string; ids: string } | undefined {
  const { field, filter, direction, bound, skip, take } = page;
  const ids = orderedIds(withinGroup(field, filter), direction, bound);
  if (!ids) return undefined;
  return {
    with: `
  cells as (${countsByGroup(field, filter)}),
  groups as materialized (
    select value, n, sum(n) over (order by value ${direction} rows between unbounded preceding and current row) - n as before
      from (select value, sum(n) as n from cells group by value having sum(n) > 0) as counted),
  visited as materialized (
    select value, before from groups
     where before + n > ${skip} and before < ${skip} + ${take} order by value ${direction})`,
    ids: `
    select found.id from visited cross join lateral (
      select id from (${ids}) as ordered order by id ${direction}
      offset greatest(${skip} - visited.before, 0)::bigint limit ${take}) as found
     order by visited.value ${direction}, found.id ${direction} limit ${take}`,
  };
}

function withinGroup(field: GroupField, filter: FilterSql): FilterSql {
  const value = 'visited.value';
  const choice = { each: [value], all: `array[${value}]` };
  switch (field) {
    case 'severity':
      return { ...filter, severities: choice };
    case 'status':
      return { ...filter, statuses: choice };
    case 'incident_type':
      return { ...filter, types: choice };
    case 'source':
      return { ...filter, source: value };
  }
}

/** The folded cells and the fresh deltas that match, by the value that is sorted by. */
function countsByGroup(field: GroupField, filter: FilterSql): string {
  const { statuses, severities, types, source } = filter;
  const chosen = { severity: severities, status: statuses, incident_type: types, source };
  const combined = Object.entries(chosen).some(([key, value]) => key !== field && value);
  const full = combined && (field === 'source' || source !== undefined);
  const cell = (column: GroupField, wanted: string | undefined) => {
    if (wanted) return `${column} = any(${wanted})`;
    return column === field || full ? `${column} <> ''` : `${column} = ''`;
  };
  const folded = [
    source ? `source = ${source}` : cell('source', undefined),
    cell('incident_type', types?.all),
    cell('severity', severities && `${severities.all}::text[]`),
    cell('status', statuses && `${statuses.all}::text[]`),
  ];
  const fresh = [
    'true',
    ...(source ? [`source = ${source}`] : []),
    ...(types ? [`incident_type = any(${types.all})`] : []),
    ...(severities ? [`severity = any(${severities.all})`] : []),
    ...(statuses ? [`status = any(${statuses.all})`] : []),
  ];
  return `
    select ${field}::${TYPE_OF[field]} as value, n from incident_counts where ${folded.join(' and ')}
    union all
    select ${field}, n from fresh where ${fresh.join(' and ')}`;
}
