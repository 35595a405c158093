/**
 * How many incidents there are is counted by those who change them: triggers append deltas, the fold sums them up (see
 * CountFold). A reader adds to the sums what the fold has not seen yet, all in one snapshot, so that its total is what
 * count(*) would give in the same statement.
 */

/**
 * Which transactions the fold has seen, and the deltas of all others that this statement sees. The upper end of the range
 * keeps nothing out: with two ends the planner expects few rows, as it should; with one it expects a third of the table,
 * and after an import it would plan each list anew instead of keeping its plan.
 */
export const FRESH_DELTAS = `
  state as materialized (select folded from incident_count_state),
  fresh as materialized (
    select d.incident_id, d.incident_type, d.severity, d.status, d.source, d.n
      from incident_count_deltas d
     where d.xid between (select pg_snapshot_xmin(folded) from state) and '18446744073709551615'
       and not pg_visible_in_snapshot(d.xid, (select folded from state)))`;

/** The dimensions that are counted; each parameter is the array of the values wanted. */
export interface CountedBy {
  readonly statuses?: string;
  readonly severities?: string;
  readonly types?: string;
  readonly source?: string;
}

/** The sum of what has been folded for the values given. An empty word in a column stands for any. */
export function foldedCount(by: CountedBy): string {
  const one = (column: string, parameter: string | undefined, cast = '') =>
    parameter ? `${column} = any(${parameter}${cast})` : `${column} = ''`;
  const each = (column: string, parameter: string | undefined, cast = '') =>
    parameter ? `${column} = any(${parameter}${cast})` : `${column} <> ''`;
  const { statuses, severities, types, source } = by;
  // With a source there are sums for it alone and for full combinations, none in between: sources are many.
  const cell = source && (statuses ?? severities ?? types) ? each : one;
  const conditions = [
    source ? `source = ${source}` : `source = ''`,
    cell('incident_type', types),
    cell('severity', severities, '::text[]'),
    cell('status', statuses, '::text[]'),
  ];
  return `(select coalesce(sum(n), 0) from incident_counts where ${conditions.join(' and ')})`;
}

export function freshCount(by: CountedBy): string {
  const { statuses, severities, types, source } = by;
  const conditions = [
    ...(source ? [`source = ${source}`] : []),
    ...(types ? [`incident_type = any(${types})`] : []),
    ...(severities ? [`severity = any(${severities})`] : []),
    ...(statuses ? [`status = any(${statuses})`] : []),
  ];
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
  return `(select coalesce(sum(n), 0) from fresh${where})`;
}
