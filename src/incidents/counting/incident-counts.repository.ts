// SQL: the fold is one statement over all deltas, grouped by sets, in a snapshot that TypeORM cannot name.
import { Injectable } from '@nestjs/common';
import { Statements, type Statement } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { FRESH_DELTAS } from './counts.sql.js';
import { FOLD_TIMEOUT_MS } from '../../platform/counting/count-fold.js';
import { IncidentCountEntity, IncidentSegmentEntity } from './incident-count.entity.js';

/** A deep page reads at most a few times this many ids that it does not show. */
const SEGMENT_ROWS = 256;
const LARGEST_SEGMENT = 2 * SEGMENT_ROWS;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The connection waits for it as long as the database may take: see FOLD_TIMEOUT_MS. */
type PatientStatement = Statement & { readonly query_timeout: number };
const patient = (name: string, text: string): PatientStatement => ({
  name,
  text,
  query_timeout: FOLD_TIMEOUT_MS,
});

/**
 * `restored`: the state comes from a cluster that had used up more transaction numbers than this one, so they mean
 * nothing here.
 */
const PENDING: Statement = {
  name: 'incidents_fold_pending',
  text: `
    with ${FRESH_DELTAS}
    select exists (select from fresh) as pending,
      (select pg_snapshot_xmax(folded) > pg_snapshot_xmax(pg_current_snapshot()) from state) as restored`,
};

/**
 * What is summed up: every source, every full combination, and every combination of type, severity and status with or
 * without each of them. An empty word in a sum stands for any value.
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

/** Cuts a segment that has grown into pieces; everything is counted in the snapshot of the fold. */
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

  /** Removes deltas that every reader finds folded; false when some may be left. */
  async purge(): Promise<boolean> {
    return (await this.statements.rows(PURGE)).length < PURGED_AT_ONCE;
  }

  /** Counts anew from the incidents themselves. */
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

  /** Where the counts differ from the incidents, in one snapshot; empty when all is well. */
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

/** A sum, or a segment by its first id in `source`, that is not what the incidents give. */
export interface CountDifference extends Pick<
  IncidentCountEntity,
  'source' | 'incident_type' | 'severity' | 'status'
> {
  readonly counted: number;
  readonly actual: number;
}
