import { type Choice, exactTotal, isChosen } from '../../platform/counting/counted-list.sql.js';
import type { IncidentCountEntity } from './incident-count.entity.js';

/**
 * The state of the fold, and the deltas that this statement sees and the fold has not added yet. The upper end of the
 * range keeps nothing out: with two ends the planner expects few rows, as it should; with one it expects a third of the
 * table, and after an import it would plan each list anew instead of keeping its plan.
 */
export const FRESH_DELTAS = `
  state as materialized (select folded from incident_count_state),
  fresh as materialized (
    select d.incident_id, d.incident_type, d.severity, d.status, d.source, d.n
      from incident_count_deltas d
     where d.xid between (select pg_snapshot_xmin(folded) from state) and '18446744073709551615'
       and not pg_visible_in_snapshot(d.xid, (select folded from state)))`;

/** What incidents are counted by. */
export type Dimension = Exclude<keyof IncidentCountEntity, 'n'>;

const DIMENSIONS: readonly Dimension[] = ['source', 'incident_type', 'severity', 'status'];

/** Which values a filter chooses; a dimension without a choice may have any. */
export type ChosenValues = Readonly<Partial<Record<Dimension, Choice>>>;

export function valueConditions(chosen: ChosenValues): string[] {
  return DIMENSIONS.flatMap((dimension) => {
    const choice = chosen[dimension];
    return choice ? [isChosen(dimension, choice)] : [];
  });
}

/**
 * Which sums are added up, for each combination of values of `groupedBy` apart. A sum with an empty word in a column is
 * one over all its values. There are sums for each source alone and for each full combination, but none for a source
 * with some of the others, since sources are many: then the full combinations are added up.
 */
export function sumConditions(
  chosen: ChosenValues,
  groupedBy: readonly Dimension[] = [],
): string[] {
  const involved = DIMENSIONS.filter((one) => groupedBy.includes(one) || chosen[one]);
  const full = involved.length > 1 && involved.includes('source');
  return DIMENSIONS.map((dimension) => {
    const choice = chosen[dimension];
    if (choice) return isChosen(dimension, choice, 'text');
    return full || groupedBy.includes(dimension) ? `${dimension} <> ''` : `${dimension} = ''`;
  });
}

/** How many incidents have the chosen values, for a statement with FRESH_DELTAS. */
export function countOf(chosen: ChosenValues): string {
  return exactTotal(
    { table: 'incident_counts', conditions: sumConditions(chosen) },
    { table: 'fresh', conditions: valueConditions(chosen) },
  );
}
