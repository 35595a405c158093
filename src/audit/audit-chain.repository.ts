import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Tx } from '../database/transactions.js';
import { GENESIS, HASH_BYTES } from './audit-chain.js';
import type { ChainEnd, ChainHead, Cursor } from './chain-head.js';
import type { Round } from './sealing-round.js';

/** One sealer per database, whichever replica it runs in. */
const SEALER_LOCK = 7_203_442;

/** Rows in one transaction of the sealer: some 20 ms of work, and few to do again when it is killed. */
export const PAGE_ROWS = 1_000;

export interface PageRow extends Cursor {
  readonly mac: Buffer;
  readonly sealed: boolean;
}

export interface Seal {
  readonly auditId: string;
  readonly hash: Buffer;
}

/** Statements here are planned anew each time, for the sizes that the tables have by then; they run once a second. */
@Injectable()
export class AuditChainRepository {
  async tryLock(tx: Tx): Promise<boolean> {
    const [row] = await tx.query<{ locked: boolean }[]>(
      'select pg_try_advisory_xact_lock($1) as locked',
      [SEALER_LOCK],
    );
    return row?.locked === true;
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
    round: Pick<Round, 'from' | 'to' | 'after'>,
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
      `insert into audit_chain (seq, hash, cluster, sealed_to, sealing_to, after_xid, after_id, key_id, mac)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (only_row) do update set
         (seq, hash, cluster, sealed_to, sealing_to, after_xid, after_id, key_id, mac) =
         row (excluded.seq, excluded.hash, excluded.cluster, excluded.sealed_to, excluded.sealing_to,
              excluded.after_xid, excluded.after_id, excluded.key_id, excluded.mac)`,
      [
        head.seq,
        head.hash,
        head.cluster,
        head.sealedTo,
        head.sealingTo,
        head.after?.xid ?? null,
        head.after?.id ?? null,
        head.keyId,
        head.mac,
      ],
    );
  }
}

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
