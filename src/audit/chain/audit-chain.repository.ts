// SQL: snapshots and transaction ids of PostgreSQL, and a thousand seals per statement.
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import { HEAD_ACCEPTED, type AuditRow } from '../audit-entry.js';
import {
  GENESIS,
  HASH_BYTES,
  sameBytes,
  type SealedPoint,
  type ChainEnd,
  type ChainHead,
  type Cursor,
  type SealingRound,
} from './audit-chain.js';
import { AuditChainEntity, AuditSealEntity } from '../audit.entity.js';

/** Rows per transaction of the sealer: about 20 ms of work, and little to repeat after a crash. */
export const PAGE_ROWS = 1_000;

export interface PageRow extends Cursor {
  readonly mac: Buffer;
  readonly sealed: boolean;
}

interface Backlog {
  readonly unsealed: number;
  readonly oldest: Date | undefined;
}

export interface Seal {
  readonly auditId: string;
  readonly hash: Buffer;
}

/** The statements have no names, so that they are planned for the current table sizes. They run once per second. */
@Injectable()
export class AuditChainRepository {
  /**
   * Locks the row of the head, so that one sealer works per database. Only roles that may change the row can lock it.
   * `false` if another sealer holds it, or if there is no head yet.
   */
  async lockHead(tx: Tx): Promise<boolean> {
    const rows = await tx.query<object[]>('select 1 from audit_chain for update skip locked');
    return rows.length > 0;
  }

  /** Creates the first head and locks it until the transaction ends; `false` if another sealer was faster. */
  async beginHead(tx: Tx, head: ChainHead): Promise<boolean> {
    const result = await tx
      .getRepository(AuditChainEntity)
      .createQueryBuilder()
      .insert()
      .values(headColumns(head))
      .orIgnore()
      .returning('only_row')
      .updateEntity(false)
      .execute();
    return (result.raw as object[]).length > 0;
  }

  async hashAt(manager: EntityManager, seq: bigint): Promise<Buffer | undefined> {
    return (await manager.getRepository(AuditSealEntity).findOneBy({ seq }))?.hash;
  }

  /** Whether the chain contains the seal. After the chain was set back or made again it does not. */
  async leadsThrough(manager: EntityManager, { seq, hash }: SealedPoint): Promise<boolean> {
    if (seq === GENESIS.seq) return true;
    const present = await this.hashAt(manager, seq);
    return present !== undefined && sameBytes(present, hash);
  }

  /** The last acceptance of the chain. The caller checks whether it is genuine. */
  async lastAcceptance(manager: EntityManager): Promise<AuditRow | undefined> {
    const [row] = await manager.query<AuditRow[]>(
      `select ${AUDIT_ROW} from audit_log a where action = '${HEAD_ACCEPTED}' order by id desc limit 1`,
    );
    return row;
  }

  async readEnd(manager: EntityManager): Promise<ChainEnd> {
    const [row] = await manager.query<EndRow[]>(END);
    if (!row) throw new Error('The statement returned no row.');
    return {
      head: row.seq === null ? undefined : headOf(row),
      lastSeal:
        row.last_seq === null ? GENESIS : { seq: BigInt(row.last_seq), hash: row.last_hash! },
      now: { snapshot: row.now_snapshot, cluster: row.now_cluster },
      restored: row.restored,
    };
  }

  async pageOf(
    manager: EntityManager,
    round: Pick<SealingRound, 'from' | 'to' | 'after'>,
  ): Promise<PageRow[]> {
    return round.from === null
      ? await this.pageById(manager, round.after.id)
      : await manager.query(NEWLY_VISIBLE, [round.from, round.to, round.after.xid, round.after.id]);
  }

  async pageById(manager: EntityManager, afterId: string): Promise<PageRow[]> {
    return await manager.query(
      `select id, xid::text as xid, mac, ${SEALED} from audit_log a where id > $1 order by id limit ${PAGE_ROWS}`,
      [afterId],
    );
  }

  /** The hashes are sent as one byte string, which costs a third of an array. */
  async insertSeals(tx: Tx, after: bigint, seals: readonly Seal[], keyId: string): Promise<void> {
    await tx.query(
      `insert into audit_seals (seq, audit_id, hash, key_id)
       select $1::bigint + n, audit_id, substring($3::bytea from (n::int - 1) * ${HASH_BYTES} + 1 for ${HASH_BYTES}), $4
       from unnest($2::uuid[]) with ordinality as s (audit_id, n)`,
      [
        after,
        seals.map(({ auditId }) => auditId),
        Buffer.concat(seals.map(({ hash }) => hash)),
        keyId,
      ],
    );
  }

  async writeHead(tx: Tx, head: ChainHead): Promise<void> {
    await tx.getRepository(AuditChainEntity).update({ only_row: true }, headColumns(head));
  }

  /** What a verification found, for all replicas and after a restart. */
  async keepFinding(tx: Tx, found_invalid_at: Date | null): Promise<void> {
    await tx.getRepository(AuditChainEntity).update({ only_row: true }, { found_invalid_at });
  }

  async foundInvalidAt(manager: EntityManager): Promise<Date | null> {
    const head = await manager.getRepository(AuditChainEntity).findOneBy({ only_row: true });
    return head?.found_invalid_at ?? null;
  }

  /** Committed rows without a seal. */
  async backlog(manager: EntityManager): Promise<Backlog> {
    const head = await manager.getRepository(AuditChainEntity).findOneBy({ only_row: true });
    const sealedTo = head?.sealed_to ?? null;
    const [row] = await manager.query<{ unsealed: string; oldest: Date | null }[]>(
      `select count(*) as unsealed, min(at) as oldest from audit_log a
       where ${sealedTo === null ? 'true' : BEYOND_SNAPSHOT} and ${NOT_SEALED}`,
      sealedTo === null ? [] : [sealedTo],
    );
    return { unsealed: Number(row?.unsealed ?? 0), oldest: row?.oldest ?? undefined };
  }
}

/** Columns of an AuditRow, with the details as text. */
export const AUDIT_ROW = `a.id, a.at, a.actor, a.action, a.subject_type, a.subject_id, a.details::text as details,
  a.key_id, a.mac`;

function headColumns(head: ChainHead): Omit<AuditChainEntity, 'only_row' | 'found_invalid_at'> {
  const { seq, hash, cluster, sealedTo, sealingTo, after, keyId, mac } = head;
  return {
    seq,
    hash,
    cluster,
    sealed_to: sealedTo,
    sealing_to: sealingTo,
    after_xid: after?.xid ?? null,
    after_id: after?.id ?? null,
    key_id: keyId,
    mac,
  };
}

/** Rows that the snapshot `$1` does not see: of later transactions, and of transactions that were running. */
export const BEYOND_SNAPSHOT = `(a.xid >= pg_snapshot_xmax($1::pg_snapshot) or a.xid = any (array(select pg_snapshot_xip($1::pg_snapshot))))`;

/** A subquery, because the planner may turn EXISTS into a scan of all seals. This is one index probe per row. */
const SEAL_OF_ROW = '(select true from audit_seals s where s.audit_id = a.id)';
export const NOT_SEALED = `${SEAL_OF_ROW} is null`;
const SEALED = `${SEAL_OF_ROW} is not null as sealed`;

/**
 * A snapshot does not see transactions from its xmax on, nor those that were running. The first are the end of the
 * index, the second a few points in it, so a transaction that stays open for hours costs nothing.
 */
const NEWLY_VISIBLE = `
  with page as (
    (select id, xid, mac from audit_log
      where xid >= pg_snapshot_xmax($1::pg_snapshot) and xid < pg_snapshot_xmax($2::pg_snapshot)
        and pg_visible_in_snapshot(xid, $2::pg_snapshot) and (xid, id) > ($3::xid8, $4::uuid)
      order by xid, id limit ${PAGE_ROWS})
    union all
    (select id, xid, mac from audit_log
      where xid = any (array(select pg_snapshot_xip($1::pg_snapshot)))
        and pg_visible_in_snapshot(xid, $2::pg_snapshot) and (xid, id) > ($3::xid8, $4::uuid)
      order by xid, id limit ${PAGE_ROWS})
    order by 2, 1 limit ${PAGE_ROWS}
  )
  select id, xid::text as xid, mac, ${SEALED} from page a order by a.xid, a.id`;

const END = `
  select now.snapshot::text as now_snapshot, now.cluster as now_cluster,
    c.seq::text as seq, c.hash, c.cluster, c.sealed_to::text as sealed_to, c.sealing_to::text as sealing_to,
    c.after_xid::text as after_xid, c.after_id, c.key_id, c.mac,
    coalesce(c.cluster <> now.cluster, false)
      or coalesce(pg_snapshot_xmax(now.snapshot) < pg_snapshot_xmax(coalesce(c.sealing_to, c.sealed_to)), false)
      as restored,
    last.seq::text as last_seq, last.hash as last_hash
  from (select pg_current_snapshot() as snapshot,
               (select system_identifier::text from pg_control_system()) as cluster) now
  left join audit_chain c on true
  left join (select seq, hash from audit_seals order by seq desc limit 1) last on true`;

/** The columns of the head are null if there is none yet. */
interface EndRow extends Omit<AuditChainEntity, 'only_row' | 'seq' | 'found_invalid_at'> {
  readonly now_snapshot: string;
  readonly now_cluster: string;
  readonly restored: boolean;
  readonly last_seq: string | null;
  readonly last_hash: Buffer | null;
  readonly seq: string | null;
}

function headOf(row: EndRow): ChainHead {
  return {
    seq: BigInt(row.seq!),
    hash: row.hash,
    cluster: row.cluster,
    sealedTo: row.sealed_to,
    sealingTo: row.sealing_to,
    after:
      row.after_xid === null || row.after_id === null
        ? null
        : { xid: row.after_xid, id: row.after_id },
    keyId: row.key_id,
    mac: row.mac,
  };
}
