import type { EntityManager } from 'typeorm';
import { Injectable, Logger } from '@nestjs/common';
import { Transactions } from '../../platform/database/transactions.js';
import { Clock } from '../../platform/clock.js';
import type { AuditRow } from '../audit-entry.js';
import type { AuditAttestationEntity } from '../audit.entity.js';
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
  type SealedPoint,
} from './audit-chain.js';
import { AuditChainRepository, type SealedRow } from './audit-chain.repository.js';
import { AuditWitness, lastAcceptedAt, type SeenHead } from './audit-witness.js';

/** `unknown`: the key of the seal or its row is missing. */
export type Verdict = 'genuine' | 'unknown' | 'altered';

export interface JudgedSeal {
  readonly seal: SealedRow;
  readonly previous: SealedPoint;
  readonly verdict: Verdict;
  /** Later key that attested the seal. */
  readonly attestedBy?: string;
}

/** Walks the chain from its beginning and judges each seal and its row, with their keys or by an attestation. */
export class SealWalk {
  constructor(
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
  ) {}

  async *pages(manager: EntityManager): AsyncGenerator<JudgedSeal[]> {
    let previous = GENESIS;
    for (;;) {
      const page = await this.chain.sealsAfter(manager, previous.seq);
      const last = page.at(-1);
      if (!last) return;
      const attestations = await this.chain.attestationsBetween(manager, page[0]!.seq, last.seq);
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
      const verdict = isAttested(attestation, this.keys.attestations, previous, seal, row)
        ? 'genuine'
        : 'altered';
      return { seal, previous, verdict, attestedBy: attestation.key_id };
    }
    return { seal, previous, verdict: this.judgeByKeys(previous, seal, row) };
  }

  private judgeByKeys(previous: SealedPoint, { hash, key_id }: SealedRow, row: AuditRow): Verdict {
    const named = this.keys.chain.find(key_id);
    if (!named || !this.keys.rows.find(row.key_id)) return 'unknown';
    const genuine =
      isGenuine(row, this.keys.rows) && sameBytes(hash, nextSeal(named.key, previous, row).hash);
    return genuine ? 'genuine' : 'altered';
  }
}

export interface Verification {
  readonly valid: boolean;
  /** Unchanged sealed rows, up to the first changed one. */
  readonly checked: number;
  /** Rows that wait for the sealer. Many of them mean that it does not run. */
  readonly unsealed: number;
  readonly first_invalid_id?: string;
  /** The chain does not contain a head that was seen before. */
  readonly head_rewound?: true;
}

interface Walk {
  readonly count: number;
  readonly invalidId?: string;
}

/** Verifies the whole trail page by page, so that it needs the memory of one page. */
@Injectable()
export class AuditVerifier {
  private readonly seals: SealWalk;
  private readonly log = new Logger(AuditVerifier.name);

  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
    private readonly clock: Clock,
  ) {
    this.seals = new SealWalk(chain, keys);
  }

  /** Whether the last verification of any replica found a fault that was not accepted since. */
  async foundInvalid(manager: EntityManager): Promise<boolean> {
    const at = await this.chain.foundInvalidAt(manager);
    return at !== null && at.getTime() > this.witness.acceptedAt;
  }

  async verify(): Promise<Verification> {
    // Read before the snapshot, which must contain everything that was seen by now.
    const { head } = this.witness;
    const found = await this.transactions.snapshot((manager) => this.look(manager, head));
    await this.keep(found.valid ? null : this.clock.now());
    return found;
  }

  /** A read-only database can be verified as well, so the caller gets its answer in any case. */
  private async keep(foundInvalidAt: Date | null): Promise<void> {
    try {
      await this.transactions.run((tx) => this.chain.keepFinding(tx, foundInvalidAt));
    } catch (error) {
      this.log.warn(error, 'The result of a verification of the audit trail was not stored');
    }
  }

  private async look(manager: EntityManager, head: SeenHead): Promise<Verification> {
    const end = await this.chain.readEnd(manager);
    const fault = faultOfEnd(end, this.keys.chain);
    const acceptedAt = await lastAcceptedAt(manager, this.chain, this.keys);
    const seals = await this.walkSeals(manager);
    const sealedTo = end.restored ? null : (end.head?.sealed_to ?? null);
    const rest = await this.walkUnsealed(manager, sealedTo);
    const invalidId = seals.invalidId ?? rest.invalidId;
    const rewound =
      head.at.getTime() > acceptedAt && !(await this.chain.leadsThrough(manager, head));
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
    for await (const page of this.seals.pages(manager)) {
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
