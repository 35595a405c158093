// SQL: details as the text that MACs cover, PostgreSQL snapshots, and a scan in parts.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AUDIT_ROW } from '../chain/audit-chain.repository.js';
import type { AuditRow } from '../audit-entry.js';

/** A row may have some kilobytes, and two pages are in memory. */
export const PAGE_ROWS = 100;
const SCANNED_AT_ONCE = 20_000;

/** Ids begin with their time. */
export interface IdRange {
  readonly from: string;
  readonly before: string;
}

interface SeqRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Rows and seals never change, so each page can be read in its own statement, even for a slow reader. */
@Injectable()
export class AuditExportRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** First and last seal of the rows in the range. Seals in between may belong to rows of other times. */
  async sealsOf({ from, before }: IdRange, upTo: bigint): Promise<SeqRange | undefined> {
    const firsts: bigint[] = [];
    const lasts: bigint[] = [];
    for (let least: string | null = from; least !== null;) {
      const [found]: ScannedRow[] = await this.dataSource.query(SCAN, [least, before, upTo]);
      if (found?.first) firsts.push(BigInt(found.first));
      if (found?.last) lasts.push(BigInt(found.last));
      least = found?.next ?? null;
    }
    const [first] = firsts.sort(byNumber);
    const last = lasts.sort(byNumber).at(-1);
    return first === undefined || last === undefined ? undefined : { first, last };
  }

  /** Rows that the snapshot sees and that had no seal then. */
  async unsealedPage(
    afterId: string,
    before: string,
    upTo: bigint,
    snapshot: string,
  ): Promise<AuditRow[]> {
    return await this.dataSource.query(
      `select ${AUDIT_ROW} from audit_log a
       where a.id > $1 and a.id < $2 and pg_visible_in_snapshot(a.xid, $4::pg_snapshot)
         and (select true from audit_seals s where s.audit_id = a.id and s.seq <= $3) is null
       order by a.id limit ${PAGE_ROWS}`,
      [afterId, before, upTo, snapshot],
    );
  }
}

/** Scans part of the range, because statements have a time limit. */
const SCAN = `
  with part as (
    select id from audit_log where id >= $1 and id < $2 order by id limit ${SCANNED_AT_ONCE})
  select min(s.seq)::text as first, max(s.seq)::text as last,
    (select id from audit_log where id > (select id from part order by id desc limit 1) and id < $2
      order by id limit 1) as next
  from part left join audit_seals s on s.audit_id = part.id and s.seq <= $3`;

const byNumber = (one: bigint, other: bigint): number => (one < other ? -1 : 1);

interface ScannedRow {
  readonly first: string | null;
  readonly last: string | null;
  readonly next: string | null;
}
