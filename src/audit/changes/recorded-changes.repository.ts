// SQL: PostgreSQL snapshots and transaction ids, by which a feed finds newly committed audit rows.
import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements.js';
import { firstIdAt, timeOfId } from '../../platform/ids.js';
import { HEAD_ACCEPTED } from '../audit-entry.js';
import { BEFORE_ALL } from '../chain/audit-chain.js';
import type { Changing, DatabaseEra, RowPlace } from './change-cursor.js';

/** Audit rows that one statement reads: about 10 ms. */
const MOST_SCANNED = 2_000;

/** Tolerated clock difference between replicas: no change is lost after a restore. */
const CLOCK_TOLERANCE_MS = 3_600_000;

/** A change as its audit row records it. */
export interface RecordedChange {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subjectId: string;
  /** Names of the changed fields, if the row has them. */
  readonly changed?: readonly string[];
}

export interface Present extends DatabaseEra {
  readonly snapshot: string;
}

const PRESENT = {
  name: 'audit_changes_present',
  text: `
    select (select system_identifier::text from pg_control_system()) as cluster,
           (select id from audit_log where action = '${HEAD_ACCEPTED}' order by id desc limit 1) as restore,
           pg_current_snapshot()::text as snapshot`,
};

/**
 * Without a name, so that PostgreSQL plans it for the current table size. A snapshot does not see transactions from its
 * xmax on, nor those that were running: see audit-chain.repository.ts.
 */
const READ = {
  name: '',
  text: `
    with goal as materialized (select coalesce($2::pg_snapshot, pg_current_snapshot()) as until),
    scanned as materialized (
      (select id, xid, action from audit_log
        where xid >= pg_snapshot_xmax($1::pg_snapshot) and xid < pg_snapshot_xmax((select until from goal))
          and pg_visible_in_snapshot(xid, (select until from goal)) and (xid, id) > ($3::xid8, $4::uuid)
        order by xid, id limit ${MOST_SCANNED})
      union all
      (select id, xid, action from audit_log
        where xid = any (array(select pg_snapshot_xip($1::pg_snapshot)))
          and pg_visible_in_snapshot(xid, (select until from goal)) and (xid, id) > ($3::xid8, $4::uuid)
        order by xid, id limit ${MOST_SCANNED})
      order by 2, 1 limit ${MOST_SCANNED}),
    tail as (select xid, id from scanned order by xid, id offset ${MOST_SCANNED - 1} limit 1),
    page as (
      select id, xid from scanned where action = any($5::text[]) and id >= $6::uuid
       order by xid, id limit $7::integer)
    select goal.until::text, tail.xid::text as tail_xid, tail.id as tail_id, page.xid::text as xid, log.id, log.at,
           log.actor, log.action, log.subject_id, log.details->'changed' as changed
      from goal left join tail on true left join page on true left join audit_log log on log.id = page.id
     order by page.xid, page.id`,
};

interface ReadRow {
  readonly until: string;
  readonly tail_xid: string | null;
  readonly tail_id: string | null;
  readonly xid: string;
  /** Null if nothing was found. */
  readonly id: string | null;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject_id: string;
  readonly changed: readonly string[] | null;
}

interface ChangesRead {
  readonly changes: readonly RecordedChange[];
  readonly next: Changing;
}

@Injectable()
export class RecordedChangesRepository {
  constructor(private readonly statements: Statements) {}

  async present(): Promise<Present> {
    const [row] = await this.statements.rows<Present>(PRESENT);
    return row!;
  }

  /**
   * Returns at most `limit` changes after the position, up to the snapshot `upTo` or now. `next` has a page if there may be more.
   */
  async read(
    { seen, page }: Changing,
    { restore }: DatabaseEra,
    actions: readonly string[],
    limit: number,
    upTo?: string,
  ): Promise<ChangesRead> {
    const { xid, id } = page?.after ?? BEFORE_ALL;
    const rows = await this.statements.rows<ReadRow>(READ, [
      seen,
      page?.until ?? upTo ?? null,
      ...[xid, id, actions, firstIdSince(restore), limit],
    ]);
    const found = rows.filter((row) => row.id !== null);
    const { until } = rows[0]!;
    const after = lastRead(rows, found, limit);
    const next = after ? { seen, page: { until, after } } : { seen: until };
    return { changes: found.map(changeOf), next };
  }
}

/** Rows of a backup keep the transaction ids of their first cluster, which the current cluster may use again. */
function firstIdSince(restore: string | null): string {
  return firstIdAt(restore === null ? 0 : timeOfId(restore) - CLOCK_TOLERANCE_MS);
}

/** `undefined` if all rows up to the goal were read. */
function lastRead(
  [first]: readonly ReadRow[],
  found: readonly ReadRow[],
  limit: number,
): RowPlace | undefined {
  const last = found.at(-1);
  if (last && found.length === limit) return { xid: last.xid, id: last.id! };
  if (!first?.tail_id || !first.tail_xid) return undefined;
  return { xid: first.tail_xid, id: first.tail_id };
}

function changeOf(row: ReadRow): RecordedChange {
  const { id, at, actor, action, subject_id: subjectId, changed } = row;
  return { id: id!, at, actor, action, subjectId, changed: changed ?? undefined };
}
