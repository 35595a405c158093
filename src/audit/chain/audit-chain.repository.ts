import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import { GENESIS, HASH_BYTES } from './audit-chain.js';
import type { AuditRow } from '../audit-entry.js';
import { HEAD_ACCEPTED } from '../anchor/accept-head.js';
import type { ChainEnd, ChainHead, Cursor } from './chain-head.js';
import type { SealingRound } from './sealing-round.js';

/** Rows in one transaction of the sealer: some 20 ms of work, and few to do again when it is killed. */
export const PAGE_ROWS = 1_000;

export interface PageRow extends Cursor {
  readonly mac: Buffer;
  readonly sealed: boolean;
}

export interface Backlog {
  readonly unsealed: number;
  readonly oldest: Date | undefined;
}

export interface Holder {
  readonly pid: number;
  readonly role: string | null;
  readonly application: string | null;
  readonly address: string | null;
}

export interface Seal {
  readonly auditId: string;
  readonly hash: Buffer;
}

/** Statements here are planned anew each time, for the sizes that the tables have by then; they run once a second. */
@Injectable()
export class AuditChainRepository {
  /**
   * One sealer per database, whichever replica it runs in: it holds the row of the head, which nobody can lock who may
   * not change it. False when another holds it, or when there is no head yet.
   */
  async lockHead(tx: Tx): Promise<boolean> {
    const rows = await tx.query<object[]>('select 1 from audit_chain for update skip locked');
    return rows.length > 0;
  }

  /** The first head of a database, held until the transaction ends; false when another sealer was faster. */
  async beginHead(tx: Tx, head: ChainHead): Promise<boolean> {
    const rows = await tx.query<object[]>(
      `insert into audit_chain (${HEAD_COLUMNS}) values (${HEAD_PLACES}) on conflict do nothing returning 1`,
      headValues(head),
    );
    return rows.length > 0;
  }

  async hashAt(manager: EntityManager, seq: bigint): Promise<Buffer | undefined> {
    const [seal] = await manager.query<{ hash: Buffer }[]>(
      'select hash from audit_seals where seq = $1',
      [seq],
    );
    return seal?.hash;
  }

  /** The last record of somebody who accepted the chain as it is; whether it is genuine is for the caller to see. */
  async lastAcceptance(manager: EntityManager): Promise<AuditRow | undefined> {
    const [row] = await manager.query<AuditRow[]>(
      `select ${AUDIT_ROW} from audit_log a where action = '${HEAD_ACCEPTED}' order by id desc limit 1`,
    );
    return row;
  }

  async readEnd(manager: EntityManager): Promise<ChainEnd> {
    const [row] = await manager.query<EndRow[]>(END);
    if (!row) throw new Error('The statement yields one row, whatever the tables hold.');
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

  /** The hashes go as one string of bytes, which costs the client a third of what an array of them does. */
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
    await tx.query(
      `update audit_chain set (${HEAD_COLUMNS}) = row (${HEAD_PLACES})`,
      headValues(head),
    );
  }

  /** The rows that committed and are not sealed. */
  async backlog(manager: EntityManager): Promise<Backlog> {
    const [chain] = await manager.query<{ sealed_to: string | null }[]>(
      'select sealed_to::text as sealed_to from audit_chain',
    );
    const sealedTo = chain?.sealed_to ?? null;
    const [row] = await manager.query<{ unsealed: string; oldest: Date | null }[]>(
      `select count(*) as unsealed, min(at) as oldest from audit_log a
       where ${sealedTo === null ? 'true' : BEYOND} and (select true from audit_seals s where s.audit_id = a.id) is null`,
      sealedTo === null ? [] : [sealedTo],
    );
    return { unsealed: Number(row?.unsealed ?? 0), oldest: row?.oldest ?? undefined };
  }

  /** Whose transaction holds the head; what PostgreSQL does not show to this role is absent. */
  async holderOfHead(manager: EntityManager): Promise<Holder | undefined> {
    const [row] = await manager.query<Holder[]>(
      `select s.pid, s.usename as role, s.application_name as application, s.client_addr::text as address
       from audit_chain c
       join pg_locks l on l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
         and l.transactionid = c.xmax
       join pg_stat_activity s on s.pid = l.pid`,
    );
    return row;
  }
}

/** What a whole row is read as. */
export const AUDIT_ROW = `a.id, a.at, a.actor, a.action, a.subject_type, a.subject_id, a.details::text as details,
  a.writer, a.written::text as written, a.key_id, a.mac`;

const HEAD_COLUMNS = 'seq, hash, cluster, sealed_to, sealing_to, after_xid, after_id, key_id, mac';
const HEAD_PLACES = '$1, $2, $3, $4, $5, $6, $7, $8, $9';

function headValues(head: ChainHead): unknown[] {
  const { seq, hash, cluster, sealedTo, sealingTo, after, keyId, mac } = head;
  return [
    seq,
    hash,
    cluster,
    sealedTo,
    sealingTo,
    after?.xid ?? null,
    after?.id ?? null,
    keyId,
    mac,
  ];
}

/** The rows that a snapshot does not see: those from its end on, and those of the transactions that it lists. */
const BEYOND = `(a.xid >= pg_snapshot_xmax($1::pg_snapshot) or a.xid = any (array(select pg_snapshot_xip($1::pg_snapshot))))`;

/** Not EXISTS, which the planner may turn into a pass over all seals; this is one probe of the index for each row. */
const SEALED = '(select true from audit_seals s where s.audit_id = a.id) is not null as sealed';

/**
 * A snapshot does not see the transactions from its xmax on and those that it lists as running. The first are the end
 * of the index, the second a few points in it: a transaction that stays open for hours costs nothing.
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

interface EndRow {
  readonly now_snapshot: string;
  readonly now_cluster: string;
  readonly restored: boolean;
  readonly last_seq: string | null;
  readonly last_hash: Buffer | null;
  readonly seq: string | null;
  readonly hash: Buffer;
  readonly cluster: string;
  readonly sealed_to: string | null;
  readonly sealing_to: string | null;
  readonly after_xid: string | null;
  readonly after_id: string | null;
  readonly key_id: string;
  readonly mac: Buffer;
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
