import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Attestation } from './audit-attestation.js';
import { AUDIT_ROW } from '../chain/audit-chain.repository.js';
import type { AuditRow } from '../audit-entry.js';

/** Two hashes each, so that a page holds the event loop for a few milliseconds. */
const PAGE_SEALS = 500;

/** Keeps the planner from reading a whole table for a page of it, whatever it believes about their sizes. */
const BY_INDEX = 'offset 0';

export interface SealedRow {
  readonly seq: bigint;
  readonly auditId: string;
  readonly hash: Buffer;
  readonly keyId: string;
  /** Absent: removed. */
  readonly row: AuditRow | undefined;
}

export interface UnsealedRow extends AuditRow {
  /** The sealer has looked past it. */
  readonly overdue: boolean;
}

@Injectable()
export class AuditVerifyRepository {
  async sealsAfter(manager: EntityManager, seq: bigint): Promise<SealedRow[]> {
    const rows = await manager.query<FlatSeal[]>(
      `select s.seq::text as seq, s.audit_id, s.hash as seal_hash, s.key_id as seal_key_id, row.*
       from (select * from audit_seals
             where seq > $1 order by seq limit ${PAGE_SEALS}) s
       left join lateral (select ${AUDIT_ROW} from audit_log a where a.id = s.audit_id ${BY_INDEX}) as row on true
       order by s.seq`,
      [seq],
    );
    return rows.map((flat) => ({
      seq: BigInt(flat.seq),
      auditId: flat.audit_id,
      hash: flat.seal_hash,
      keyId: flat.seal_key_id,
      row: flat.id === null ? undefined : (flat as AuditRow),
    }));
  }

  async attestationsBetween(
    manager: EntityManager,
    first: bigint,
    last: bigint,
  ): Promise<Attestation[]> {
    const rows = await manager.query<FlatAttestation[]>(
      `select first_seq::text as first_seq, macs, key_id from audit_attestations
       where first_seq <= $2 and last_seq >= $1`,
      [first, last],
    );
    return rows.map(({ first_seq, macs, key_id }) => ({
      firstSeq: BigInt(first_seq),
      macs,
      keyId: key_id,
    }));
  }

  async unsealedAmong(
    manager: EntityManager,
    ids: readonly string[],
    sealedTo: string | null,
  ): Promise<UnsealedRow[]> {
    return await manager.query(
      `select ${AUDIT_ROW}, coalesce(pg_visible_in_snapshot(a.xid, $2::pg_snapshot), false) as overdue
       from audit_log a
       where a.id = any ($1::uuid[])
         and (select true from audit_seals s where s.audit_id = a.id) is null
       order by a.id`,
      [ids, sealedTo],
    );
  }
}

interface FlatAttestation {
  readonly first_seq: string;
  readonly macs: Buffer;
  readonly key_id: string;
}

interface FlatSeal extends Omit<AuditRow, 'id'> {
  readonly seq: string;
  readonly audit_id: string;
  readonly seal_hash: Buffer;
  readonly seal_key_id: string;
  readonly id: string | null;
}
