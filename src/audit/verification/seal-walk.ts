import type { EntityManager } from 'typeorm';
import { attestationOf, attestedAs } from './audit-attestation.js';
import { GENESIS, isGenuine, nextSeal, sameBytes, type SealedPoint } from '../chain/audit-chain.js';
import type { AuditAttestationEntity } from './audit-attestation.entity.js';
import type { AuditRow } from '../audit-entry.js';
import type { AuditKeys } from '../chain/audit-keys.js';
import type { AuditVerifyRepository, SealedRow } from './audit-verify.repository.js';

/** `unknown`: nobody can tell, because a key that is not there sealed it. */
export type Verdict = 'genuine' | 'taken_over' | 'unknown' | 'altered';

export interface JudgedSeal {
  readonly seal: SealedRow;
  readonly previous: SealedPoint;
  readonly verdict: Verdict;
  /** The key that attested it, where one did. */
  readonly attestedBy?: string;
}

/** The chain from its beginning, each seal judged with its row: by the keys, or by what a later key said about it. */
export class SealWalk {
  constructor(
    private readonly records: AuditVerifyRepository,
    private readonly keys: AuditKeys,
  ) {}

  async *pages(manager: EntityManager): AsyncGenerator<JudgedSeal[]> {
    let previous = GENESIS;
    for (;;) {
      const page = await this.records.sealsAfter(manager, previous.seq);
      const last = page.at(-1);
      if (!last) return;
      const attestations = await this.records.attestationsBetween(manager, page[0]!.seq, last.seq);
      yield page.map((seal) => {
        const judged = this.judge(previous, seal, attestations);
        previous = { seq: seal.seq, hash: seal.hash };
        return judged;
      });
    }
  }

  private judge(
    previous: SealedPoint,
    seal: SealedRow,
    attestations: readonly AuditAttestationEntity[],
  ): JudgedSeal {
    const { row, seq } = seal;
    if (!row || seq !== previous.seq + 1n) return { seal, previous, verdict: 'altered' };
    const attestation = attestationOf(attestations, seq, this.keys.attestations);
    if (attestation) {
      const how = attestedAs(attestation, this.keys.attestations, previous, seal, row);
      return { seal, previous, verdict: how ?? 'altered', attestedBy: attestation.keyId };
    }
    return { seal, previous, verdict: this.judgeByKeys(previous, seal, row) };
  }

  private judgeByKeys(previous: SealedPoint, { hash, keyId }: SealedRow, row: AuditRow): Verdict {
    const chain = this.keys.chain.find(keyId);
    if (!chain || !this.keys.rows.find(row.key_id)) return 'unknown';
    const genuine =
      isGenuine(row, this.keys.rows) && sameBytes(hash, nextSeal(chain.key, previous, row).hash);
    return genuine ? 'genuine' : 'altered';
  }
}
