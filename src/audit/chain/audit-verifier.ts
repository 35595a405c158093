import type { EntityManager } from 'typeorm';
import { Injectable, Logger } from '@nestjs/common';
import { Transactions } from '../../platform/database/transactions.js';
import { Clock } from '../../platform/clock.js';
import type { AuditVerificationDto } from '../audit.dto.js';
import {
  attestationOf,
  AuditKeys,
  BEFORE_ALL,
  faultOfEnd,
  GENESIS,
  isAttested,
  isGenuine,
  nextSeal,
  sameBytes,
  type SealAttestation,
  type SealedPoint,
} from './audit-chain.js';
import { AuditChainRepository, type SealedRow } from './audit-chain.repository.js';
import { AuditWitness, lastAcceptedAt, type SeenHead } from './audit-witness.js';

/** `unknown`: the key of the seal or its row is missing. */
type Verdict = 'genuine' | 'unknown' | 'altered';

export interface JudgedSeal {
  readonly seal: SealedRow;
  readonly previous: SealedPoint;
  readonly verdict: Verdict;
  /** Later key that attested the seal. */
  readonly attestedBy?: string;
}

/** Walks the chain from its beginning and judges each seal and its row, with their keys or by an attestation. */
export async function* judgedPages(
  manager: EntityManager,
  chain: AuditChainRepository,
  keys: AuditKeys,
): AsyncGenerator<JudgedSeal[]> {
  let previous = GENESIS;
  for (;;) {
    const page = await chain.sealsAfter(manager, previous.seq);
    const last = page.at(-1);
    if (!last) return;
    const attestations = await chain.attestationsBetween(manager, page[0]!.seq, last.seq);
    yield page.map((seal) => {
      const attestation = attestationOf(attestations, seal.seq, keys.attestations);
      const verdict = judge(keys, previous, seal, attestation);
      const judged = { seal, previous, verdict, attestedBy: attestation?.key_id };
      previous = seal;
      return judged;
    });
  }
}

function judge(
  keys: AuditKeys,
  previous: SealedPoint,
  seal: SealedRow,
  attestation: SealAttestation | undefined,
): Verdict {
  const { row, seq, hash, key_id } = seal;
  if (!row || seq !== previous.seq + 1n) return 'altered';
  if (attestation) {
    return isAttested(attestation, keys.attestations, previous, seal, row) ? 'genuine' : 'altered';
  }
  const named = keys.chain.find(key_id);
  if (!named || !keys.rows.find(row.key_id)) return 'unknown';
  const isSealOfRow = sameBytes(hash, nextSeal(named.key, previous, row).hash);
  return isSealOfRow && isGenuine(row, keys.rows) ? 'genuine' : 'altered';
}

interface Walk {
  readonly count: number;
  readonly invalidId?: string;
}

/** Verifies the whole trail page by page, so that it needs the memory of one page. */
@Injectable()
export class AuditVerifier {
  private readonly log = new Logger(AuditVerifier.name);

  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
    private readonly clock: Clock,
  ) {}

  /** Whether the last verification of any replica found a fault that was not accepted since. */
  async foundInvalid(manager: EntityManager): Promise<boolean> {
    const at = (await this.chain.readHead(manager))?.found_invalid_at;
    return at ? at.getTime() > this.witness.acceptedAt : false;
  }

  async verify(): Promise<AuditVerificationDto> {
    // Read before the snapshot, which must contain everything that was seen by now.
    const { head } = this.witness;
    const found = await this.transactions.snapshot((manager) => this.verifyIn(manager, head));
    await this.storeFinding(found.valid ? null : this.clock.now());
    return found;
  }

  /** A read-only database can be verified as well, so the caller gets its answer in any case. */
  private async storeFinding(found_invalid_at: Date | null): Promise<void> {
    try {
      await this.transactions.run((tx) => this.chain.writeHead(tx, { found_invalid_at }));
    } catch (error) {
      this.log.warn(error, 'The result of a verification of the audit trail was not stored');
    }
  }

  private async verifyIn(manager: EntityManager, head: SeenHead): Promise<AuditVerificationDto> {
    const end = await this.chain.readEnd(manager);
    const fault = faultOfEnd(end, this.keys.chain);
    const acceptedAt = await lastAcceptedAt(manager, this.chain, this.keys);
    const seals = await this.walkSeals(manager);
    const sealedTo = end.restored ? null : (end.head?.sealed_to ?? null);
    const rest = await this.walkUnsealed(manager, sealedTo);
    const invalidId = seals.invalidId ?? rest.invalidId;
    const rewound =
      head.at.getTime() > acceptedAt && !(await this.chain.containsSeal(manager, head));
    return {
      valid: fault === undefined && invalidId === undefined && !rewound,
      checked: seals.count,
      unsealed: rest.count,
      first_invalid_id: invalidId,
      head_rewound: rewound || undefined,
    };
  }

  private async walkSeals(manager: EntityManager): Promise<Walk> {
    let count = 0;
    for await (const page of judgedPages(manager, this.chain, this.keys)) {
      for (const { seal, verdict } of page) {
        if (verdict !== 'genuine') return { count, invalidId: seal.audit_id };
        count += 1;
      }
    }
    return { count };
  }

  private async walkUnsealed(manager: EntityManager, sealedTo: string | null): Promise<Walk> {
    let count = 0;
    let invalidId: string | undefined;
    for (let afterId = BEFORE_ALL.id; ;) {
      const page = await this.chain.pageById(manager, afterId);
      const last = page.at(-1);
      if (!last) return { count, invalidId };
      afterId = last.id;
      const ids = page.filter(({ sealed }) => !sealed).map(({ id }) => id);
      if (ids.length === 0) continue;
      for (const row of await this.chain.unsealedAmong(manager, ids, sealedTo)) {
        count += 1;
        if (row.overdue || !isGenuine(row, this.keys.rows)) invalidId ??= row.id;
      }
    }
  }
}
