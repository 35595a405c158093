// SQL: details as the text that MACs cover, seals joined to rows page by page, and PostgreSQL snapshots.
import { Injectable } from '@nestjs/common';
import { type EntityManager, LessThanOrEqual, MoreThanOrEqual } from 'typeorm';
import { AuditAttestationEntity } from '../audit.entity.js';
import { AUDIT_ROW, NOT_SEALED } from '../chain/audit-chain.repository.js';
import type { AuditRow } from '../audit-entry.js';

/** Two hashes per seal, so a page blocks the event loop for a few milliseconds. */
const PAGE_SEALS = 500;

/** Largest number of a seal. */
const LAST_SEQ = 2n ** 63n - 1n;

/** Prevents the planner from reading the whole table for one page. */
const BY_INDEX = 'offset 0';

export interface SealedRow {
  readonly seq: bigint;
  readonly auditId: string;
  readonly hash: Buffer;
  readonly keyId: string;
  /** Absent if the row was removed. */
  readonly row: AuditRow | undefined;
}

interface UnsealedRow extends AuditRow {
  /** The sealer has passed the row without sealing it. */
  readonly overdue: boolean;
}

@Injectable()
export class AuditVerifyRepository {
  /** Seals after the given number, each with its row. */
  async sealsAfter(
    manager: EntityManager,
    seq: bigint,
    { last = LAST_SEQ, limit = PAGE_SEALS } = {},
  ): Promise<SealedRow[]> {
    const rows = await manager.query<FlatSeal[]>(
      `select s.seq::text as seq, s.audit_id, s.hash as seal_hash, s.key_id as seal_key_id, row.*
       from (select * from audit_seals where seq > $1 and seq <= $2 order by seq limit $3) s
       left join lateral (select ${AUDIT_ROW} from audit_log a where a.id = s.audit_id ${BY_INDEX}) as row on true
       order by s.seq`,
      [seq, last, limit],
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
  ): Promise<AuditAttestationEntity[]> {
    return await manager
      .getRepository(AuditAttestationEntity)
      .findBy({ first_seq: LessThanOrEqual(last), last_seq: MoreThanOrEqual(first) });
  }

  /** Replaces an earlier attestation of the same seals. */
  async writeAttestation(
    manager: EntityManager,
    attestation: AuditAttestationEntity,
  ): Promise<void> {
    await manager.getRepository(AuditAttestationEntity).upsert(attestation, ['first_seq']);
  }

  /** Those of the rows that have no seal. */
  async unsealedAmong(
    manager: EntityManager,
    ids: readonly string[],
    sealedTo: string | null,
  ): Promise<UnsealedRow[]> {
    return await manager.query(
      `select ${AUDIT_ROW}, coalesce(pg_visible_in_snapshot(a.xid, $2::pg_snapshot), false) as overdue
       from audit_log a
       where a.id = any ($1::uuid[])
         and ${NOT_SEALED}
       order by a.id`,
      [ids, sealedTo],
    );
  }

  /** Whether an unsealed row was signed with a key other than the current one. */
  async hasUnsealedOfOthers(manager: EntityManager, presentId: string): Promise<boolean> {
    const [row] = await manager.query<{ found: boolean }[]>(
      `select exists (
         select from audit_log a
         where key_id <> $1 and not exists (select from audit_seals s where s.audit_id = a.id)) as found`,
      [presentId],
    );
    return row?.found === true;
  }
}

interface FlatSeal extends Omit<AuditRow, 'id'> {
  readonly seq: string;
  readonly audit_id: string;
  readonly seal_hash: Buffer;
  readonly seal_key_id: string;
  readonly id: string | null;
}
