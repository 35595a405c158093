// SQL: the fold is one statement over all deltas, with grouping sets and a snapshot.
import { Injectable } from '@nestjs/common';
import { Statements, type Statement } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { FOLD_TIMEOUT_MS } from '../../platform/counting/count-fold.js';
import { IncidentCountEntity, IncidentSegmentEntity } from '../records/incident.entity.js';
import { type Choice, exactTotal, isChosen } from '../../platform/counting/counted-list.sql.js';

/**
 * State of the fold, and the visible deltas that it has not added yet. The upper end of the range excludes nothing, but
 * makes the planner expect few rows; without it the planner expects a third of the table and would plan each list
 * again.
 */
export const FRESH_DELTAS = `
  state as materialized (select folded from incident_count_state),
  fresh as materialized (
    select d.incident_id, d.incident_type, d.severity, d.status, d.source, d.n
      from incident_count_deltas d
     where d.xid between (select pg_snapshot_xmin(folded) from state) and '18446744073709551615'
       and not pg_visible_in_snapshot(d.xid, (select folded from state)))`;

/** Columns by which incidents are counted. */
export type Dimension = Exclude<keyof IncidentCountEntity, 'n'>;

const DIMENSIONS: readonly Dimension[] = ['source', 'incident_type', 'severity', 'status'];

/** Values that a filter chooses. A dimension without a choice may have any value. */
export type ChosenValues = Readonly<Partial<Record<Dimension, Choice>>>;

export function valueConditions(chosen: ChosenValues): string[] {
  return DIMENSIONS.flatMap((dimension) => {
    const choice = chosen[dimension];
    return choice ? [isChosen(dimension, choice)] : [];
  });
}

/**
 * Conditions for the sums to add up, separately for each combination of `groupedBy`. An empty text in a column stands
 * for all its values. Sums exist for each source and each full combination, but not for a source with some of the other
 * columns, because sources are many. In that case the full combinations are added up.
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

/** Number of incidents with the chosen values, for a statement with FRESH_DELTAS. */
export function countOf(chosen: ChosenValues): string {
  return exactTotal(
    { table: 'incident_counts', conditions: sumConditions(chosen) },
    { table: 'fresh', conditions: valueConditions(chosen) },
  );
}

/** A deep page reads at most a few times this many ids beyond its own. */
const SEGMENT_ROWS = 256;
const LARGEST_SEGMENT = 2 * SEGMENT_ROWS;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The client waits as long as the server may take: see FOLD_TIMEOUT_MS. */
type PatientStatement = Statement & { readonly query_timeout: number };
const patient = (name: string, text: string): PatientStatement => ({
  name,
  text,
  query_timeout: FOLD_TIMEOUT_MS,
});

/** `restored`: the state comes from a cluster with higher transaction ids, so it is meaningless here. */
const PENDING: Statement = {
  name: 'incidents_fold_pending',
  text: `
    with ${FRESH_DELTAS}
    select exists (select from fresh) as pending,
      (select pg_snapshot_xmax(folded) > pg_snapshot_xmax(pg_current_snapshot()) from state) as restored`,
};

/**
 * Sums: each source, each full combination, and each combination of type, severity and status with or without each of
 * them. An empty text stands for any value.
 */
const SUMMED_SETS = `
  grouping sets ((source), (source, incident_type, severity, status), cube (incident_type, severity, status))`;
const SUMMED_VALUES = `coalesce(source, ''), coalesce(incident_type, ''), coalesce(severity::text, ''), coalesce(status::text, '')`;

const FOLD = patient(
  'incidents_fold',
  `
    with ${FRESH_DELTAS},
    counted as (
      insert into incident_counts as c (source, incident_type, severity, status, n)
      select ${SUMMED_VALUES}, sum(n) from fresh group by ${SUMMED_SETS} having sum(n) <> 0
      on conflict on constraint pk_incident_counts do update set n = c.n + excluded.n),
    folded as (update incident_count_state set folded = pg_current_snapshot())
    update incident_segments as s set n = s.n + change.n
      from (
        select place.first_id, sum(fresh.n) as n from fresh cross join lateral (
          select first_id from incident_segments where first_id <= fresh.incident_id
           order by first_id desc limit 1) as place
        group by place.first_id having sum(fresh.n) <> 0) as change
     where s.first_id = change.first_id
    returning s.first_id, s.n > ${LARGEST_SEGMENT} as too_large`,
);

/** Splits a large segment. Everything is counted in the snapshot of the fold. */
const CUT = patient(
  'incidents_segment_cut',
  `
    with rows as (
      select id, (row_number() over (order by id) - 1) / ${SEGMENT_ROWS} as piece from incidents
       where deleted_at is null and id >= $1
         and id < coalesce(
           (select first_id from incident_segments where first_id > $1 order by first_id limit 1),
           'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    insert into incident_segments as s (first_id, n)
    select case when piece = 0 then $1 else min(id::text)::uuid end, count(*) from rows group by piece
    on conflict on constraint pk_incident_segments do update set n = excluded.n`,
);

const RECOUNT = patient(
  'incidents_recount',
  `insert into incident_counts (source, incident_type, severity, status, n)
   select ${SUMMED_VALUES}, count(*) from incidents where deleted_at is null
    group by ${SUMMED_SETS} having count(*) > 0`,
);

const PURGED_AT_ONCE = 20_000;
const PURGE: Statement = {
  name: 'incidents_fold_purge',
  text: `
    delete from incident_count_deltas where ctid = any (array(
      select ctid from incident_count_deltas
       where xid < (select pg_snapshot_xmin(folded) from incident_count_state) limit ${PURGED_AT_ONCE}))
    returning 1 as purged`,
};

@Injectable()
export class IncidentCountsRepository {
  constructor(private readonly statements: Statements) {}

  async pending(): Promise<{ readonly pending: boolean; readonly restored: boolean }> {
    const [row] = await this.statements.rows<{ pending: boolean; restored: boolean }>(PENDING);
    return row ?? { pending: false, restored: true };
  }

  async fold(tx: Tx): Promise<void> {
    const touched = await this.statements.rowsIn<{ first_id: string; too_large: boolean }>(
      tx,
      FOLD,
    );
    for (const { first_id, too_large } of touched) {
      if (too_large) await this.statements.rowsIn(tx, CUT, [first_id]);
    }
  }

  /** Deletes deltas that are folded for every reader; `false` if some may be left. */
  async purge(): Promise<boolean> {
    return (await this.statements.rows(PURGE)).length < PURGED_AT_ONCE;
  }

  /** Counts all incidents again. */
  async recount(tx: Tx): Promise<void> {
    const segments = tx.getRepository(IncidentSegmentEntity);
    await tx.query('delete from incident_count_deltas');
    await tx.query('delete from incident_count_state');
    await tx.getRepository(IncidentCountEntity).deleteAll();
    await segments.deleteAll();
    await this.statements.rowsIn(tx, RECOUNT);
    await tx.query(`insert into incident_count_state (folded) values (pg_current_snapshot())`);
    await segments.insert({ first_id: FIRST_ID, n: '0' });
    await this.statements.rowsIn(tx, CUT, [FIRST_ID]);
  }

  /** Differences between counts and incidents in one snapshot. */
  async differences(tx: Tx): Promise<readonly CountDifference[]> {
    return await tx.query(`
      with ${FRESH_DELTAS},
      counted as (
        select source, incident_type, severity, status, n from incident_counts
        union all
        select ${SUMMED_VALUES}, sum(n) from fresh group by ${SUMMED_SETS}),
      actual as (
        select ${SUMMED_VALUES}, count(*) as n from incidents where deleted_at is null group by ${SUMMED_SETS}),
      difference as (
        select source, incident_type, severity, status, sum(counted)::int as counted, sum(actual)::int as actual
          from (
            select source, incident_type, severity, status, n as counted, 0 as actual from counted
            union all
            select source, incident_type, severity, status, 0, n
              from actual as a (source, incident_type, severity, status, n)) as both_sides
        group by 1, 2, 3, 4 having sum(counted) <> sum(actual))
      select * from difference
      union all
      select 'segment ' || s.first_id, '', '', '', s.n::int + s.fresh, s.actual from (
        select first_id, n, lead(first_id, 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff') over (order by first_id) as end_id from incident_segments
      ) as segment cross join lateral (
        select segment.first_id, segment.n,
          (select coalesce(sum(fresh.n), 0)::int from fresh where incident_id >= segment.first_id and incident_id < segment.end_id) as fresh,
          (select count(*)::int from incidents where deleted_at is null and id >= segment.first_id and id < segment.end_id) as actual
      ) as s where s.n + s.fresh <> s.actual`);
  }
}

/** A wrong sum, or a wrong segment with its first id in `source`. */
export interface CountDifference extends Pick<
  IncidentCountEntity,
  'source' | 'incident_type' | 'severity' | 'status'
> {
  readonly counted: number;
  readonly actual: number;
}
