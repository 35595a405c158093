// SQL: uses snapshots of PostgreSQL, inserts a thousand seals per statement, and reads details as the MACs cover them.
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { columnsOf } from '../../platform/database/columns.js';
import { RowInsert } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { firstIdAt } from '../../platform/ids.js';
import { HEAD_ACCEPTED, type AuditRow } from '../audit-entry.js';
import {
  GENESIS,
  sameBytes,
  type SealedPoint,
  snapshotEnd,
  type ChainEnd,
  type ChainHead,
  type SealedRow,
} from './audit-chain.js';
import { AuditChainEntity, AuditRetiredKeyEntity, AuditSealEntity } from '../audit.entity.js';

/** Rows per transaction of the sealer. A transaction takes about 20 ms, so a crash loses little work. */
export const PAGE_ROWS = 1_000;

const WHOLE_TRAIL_MS = 600_000;

interface Backlog {
  readonly unsealed: number;
  readonly oldest_unsealed_seconds: number;
}

/** Seals per page. Each seal needs two hashes, so a page blocks the event loop for a few milliseconds. */
const PAGE_SEALS = 500;

const LAST_SEQ = 2n ** 63n - 1n;

const SEALS = new RowInsert(AuditSealEntity, columnsOf(AuditSealEntity, []));

/** The statements run once per second, and have no names, so that PostgreSQL plans them for the current table sizes. */
@Injectable()
export class AuditChainRepository {
  /** Lets only one replica seal. Returns `false` if another replica holds the lock, or if no head exists. */
  async lockHead(tx: Tx): Promise<boolean> {
    const rows = await tx.query<object[]>('select 1 from audit_chain for update skip locked');
    return rows.length > 0;
  }

  /** Creates and locks the first head. Returns `false` if another replica created it first. */
  async beginHead(tx: Tx, head: ChainHead): Promise<boolean> {
    const insert = tx.createQueryBuilder().insert().into(AuditChainEntity).values(head);
    const begun = await insert.orIgnore().returning('only_row').updateEntity(false).execute();
    return (begun.raw as object[]).length > 0;
  }

  async hashAt(manager: EntityManager, seq: bigint): Promise<Buffer | undefined> {
    if (seq === GENESIS.seq) return GENESIS.hash;
    return (await manager.getRepository(AuditSealEntity).findOneBy({ seq }))?.hash;
  }

  async containsSeal(manager: EntityManager, { seq, hash }: SealedPoint): Promise<boolean> {
    const present = await this.hashAt(manager, seq);
    return present !== undefined && sameBytes(present, hash);
  }

  /** Returns the last entry that accepted the chain. The caller must check that the entry is genuine. */
  async lastAcceptance(manager: EntityManager): Promise<AuditRow | undefined> {
    const [row] = await manager.query<AuditRow[]>(
      `select ${AUDIT_ROW} from audit_log a where action = '${HEAD_ACCEPTED}' order by id desc limit 1`,
    );
    return row;
  }

  /** Reads the last seal before the head, because another replica may change both between the two reads. */
  async readEnd(manager: EntityManager): Promise<ChainEnd> {
    const seals = manager.getRepository(AuditSealEntity);
    const [lastSeal = GENESIS] = await seals.find({ order: { seq: 'DESC' }, take: 1 });
    const head = (await this.readHead(manager)) ?? undefined;
    const [now] = await manager.query<[ChainEnd['now']]>(
      `select pg_current_snapshot()::text as snapshot, system_identifier::text as cluster from pg_control_system()`,
    );
    const sealed_to = head?.sealed_to ?? null;
    const isBehind = sealed_to !== null && snapshotEnd(now.snapshot) < snapshotEnd(sealed_to);
    const restored = head !== undefined && (head.cluster !== now.cluster || isBehind);
    return { head, lastSeal, now, restored, sealedTo: restored ? null : sealed_to };
  }

  /** Returns unsealed rows. All rows that the snapshot `sealedTo` sees are already sealed. */
  async unsealedPage(tx: Tx, sealedTo: string | null): Promise<Pick<AuditRow, 'id' | 'mac'>[]> {
    // After a restore into another cluster, this statement reads the whole trail once, which needs a longer timeout.
    if (sealedTo === null) await tx.query(`set local statement_timeout = ${WHOLE_TRAIL_MS}`);
    return await tx.query(
      `select a.id, a.mac from audit_log a where ${BEYOND_SNAPSHOT} and ${NOT_SEALED}
       order by a.xid, a.id limit ${PAGE_ROWS}`,
      [sealedTo],
    );
  }

  async insertSeals(tx: Tx, seals: readonly AuditSealEntity[]): Promise<void> {
    const rows = seals.map((seal) => ({ ...seal, seq: String(seal.seq) }));
    await tx.query(SEALS.text(), SEALS.values(rows));
  }

  async writeHead(tx: Tx, head: Partial<AuditChainEntity>): Promise<void> {
    await tx.getRepository(AuditChainEntity).update({ only_row: true }, head);
  }

  async readHead(manager: EntityManager): Promise<AuditChainEntity | null> {
    return await manager.getRepository(AuditChainEntity).findOneBy({ only_row: true });
  }

  async backlog(manager: EntityManager): Promise<Backlog> {
    const sealedTo = (await this.readHead(manager))?.sealed_to ?? null;
    const [row] = await manager.query<[Backlog]>(
      `select count(*)::integer as unsealed,
         coalesce(greatest(0, floor(extract(epoch from now() - min(at)))), 0)::integer as oldest_unsealed_seconds
       from audit_log a where ${BEYOND_SNAPSHOT} and ${NOT_SEALED}`,
      [sealedTo],
    );
    return row;
  }

  async *sealedPages(
    manager: EntityManager,
    seq: bigint,
    { last = LAST_SEQ, limit = PAGE_SEALS } = {},
  ): AsyncGenerator<SealedRow[]> {
    for (let from = seq; ;) {
      const seals = await manager.query<
        (Omit<AuditSealEntity, 'seq'> & { readonly seq: string })[]
      >('select * from audit_seals where seq > $1 and seq <= $2 order by seq limit $3', [
        from,
        last,
        limit,
      ]);
      if (seals.length === 0) return;
      const rows = await manager.query<AuditRow[]>(
        `select ${AUDIT_ROW} from audit_log a where a.id = any ($1::uuid[])`,
        [seals.map(({ audit_id }) => audit_id)],
      );
      const byId = new Map(rows.map((row) => [row.id, row]));
      yield seals.map((seal) => {
        return { ...seal, seq: BigInt(seal.seq), row: byId.get(seal.audit_id) };
      });
      from = BigInt(seals.at(-1)!.seq);
    }
  }

  /** Returns the first and the last seal of rows in a range of ids. Seals between them may belong to other rows. */
  async sealsOf(manager: EntityManager, { from, before }: { from: string; before: string }) {
    await manager.query(`set local statement_timeout = ${WHOLE_TRAIL_MS}`);
    const [found] = await manager.query<[{ first: string | null; last: string | null }]>(
      `select min(s.seq)::text as first, max(s.seq)::text as last
       from audit_log a join audit_seals s on s.audit_id = a.id where a.id >= $1 and a.id < $2`,
      [from, before],
    );
    return found;
  }

  async retiredKeys(manager: EntityManager): Promise<AuditRetiredKeyEntity[]> {
    return await manager.getRepository(AuditRetiredKeyEntity).find({ order: { key_id: 'ASC' } });
  }

  /** `overdue` is true if the snapshot `sealedTo` sees the row, because the row should then have a seal. */
  async *unsealedPages(
    manager: EntityManager,
    sealedTo: string | null,
  ): AsyncGenerator<(AuditRow & { readonly overdue: boolean })[]> {
    await manager.query(`set local statement_timeout = ${WHOLE_TRAIL_MS}`);
    for (let id = firstIdAt(0); ;) {
      const page = await manager.query<(AuditRow & { readonly overdue: boolean })[]>(
        `select ${AUDIT_ROW}, coalesce(pg_visible_in_snapshot(a.xid, $2::pg_snapshot), false) as overdue
         from audit_log a where a.id > $1 and ${NOT_SEALED} order by a.id limit ${PAGE_ROWS}`,
        [id, sealedTo],
      );
      if (page.length === 0) return;
      yield page;
      id = page.at(-1)!.id;
    }
  }
}

export const AUDIT_ROW = `a.id, a.at, a.actor, a.action, a.subject_type, a.subject_id, a.details::text as details,
  a.key_id, a.mac`;

/**
 * Condition: the snapshot `$1` does not see the row, because its transaction is later or was still running. Excludes
 * transactions that have not begun: rows of a restored backup may have such ids. Without a snapshot, the condition
 * holds for all rows.
 */
export const BEYOND_SNAPSHOT = `($1::pg_snapshot is null
  or a.xid >= pg_snapshot_xmax($1::pg_snapshot) and a.xid < pg_snapshot_xmax(pg_current_snapshot())
  or a.xid = any (array(select pg_snapshot_xip($1::pg_snapshot))))`;

/** A subquery with one index probe per row. The planner may turn EXISTS into a scan of all seals. */
export const NOT_SEALED = '(select true from audit_seals s where s.audit_id = a.id) is null';
