import type { EntityManager } from 'typeorm';
import { attestationOf, attestedAs } from './audit-attestation.js';
import { GENESIS, isGenuine, nextSeal, sameBytes, type SealedPoint } from '../chain/audit-chain.js';
import type { AuditAttestationEntity } from './audit-attestation.entity.js';
import type { AuditRow } from '../audit-entry.js';
import type { AuditKeys } from '../chain/audit-keys.js';
import type { AuditVerifyRepository, SealedRow } from './audit-verify.repository.js';

/** `unknown`: the key that sealed it is not there. `taken_over`: that key was lost, see AuditResealing. */
export type Verdict = 'genuine' | 'taken_over' | 'unknown' | 'altered';

export interface JudgedSeal {
  readonly seal: SealedRow;
  readonly previous: SealedPoint;
  readonly verdict: Verdict;
  /** The later key that attested the seal, if one did. */
  readonly attestedBy?: string;
}

/** Walks the chain from its beginning and judges each seal with its row: by their keys, or by what a later key attested. */
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
