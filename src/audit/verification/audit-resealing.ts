import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { type Tx, Transactions } from '../../platform/database/transactions.js';
import type { KeyRing } from '../../platform/secrets/secret-keys.js';
import { acceptHead } from '../anchor/accept-head.js';
import { attestationMac, NOT_ATTESTED } from './audit-attestation.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import type { AuditKeys } from '../chain/audit-keys.js';
import { AuditSealer } from '../chain/audit-sealer.js';
import { AuditVerifier } from './audit-verifier.js';
import { AuditVerifyRepository } from './audit-verify.repository.js';
import { AuditWitness } from '../anchor/audit-witness.js';
import { AuditWriter } from '../writing/audit-writer.js';
import { type ChainEnd, faultOfEnd, signHead } from '../chain/chain-head.js';
import { type JudgedSeal, SealWalk } from './seal-walk.js';

const RETRY_MS = 50;

export interface Resealed {
  /** Seals that an older key had made, or whose row one had. */
  readonly attested: number;
  /** Seals that nobody can verify any more. */
  readonly takenOver: number;
}

/** Somebody changed the trail, and the first key must not sign that change. */
export class AlteredTrailError extends Error {}

/**
 * Makes the trail verifiable with the first key alone: everything is verified with the keys of its time, and whatever needs
 * an older key is attested with the first one. Rows and seals stay as they are. Each page is a transaction, and pages that
 * are done already are recognised, so a run that was killed is simply run again. The service may seal in the meantime.
 */
export class AuditResealing {
  private readonly transactions: Transactions;
  private readonly chain = new AuditChainRepository();
  private readonly records = new AuditVerifyRepository();
  private readonly sealer: AuditSealer;
  private readonly walk: SealWalk;
  private readonly verifier: AuditVerifier;

  /**
   * @param lost the ids of keys that are not there any more; what they sealed is accepted as it is found. The first is the
   * one that is given up; those that were retired before may follow, for whose seals it vouched.
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: AuditKeys,
    private readonly lost: readonly string[] = [],
  ) {
    this.transactions = new Transactions(dataSource);
    const clock = new Clock();
    const witness = new AuditWitness(this.chain, keys, new AuditWriter(), clock);
    this.sealer = new AuditSealer(this.transactions, this.chain, keys, witness);
    this.walk = new SealWalk(this.records, keys);
    this.verifier = new AuditVerifier(
      this.transactions,
      this.chain,
      this.records,
      keys,
      witness,
      clock,
    );
  }

  /** Whether a run would be refused, before anything is written: throws then, as the run would. */
  async check(): Promise<void> {
    const { manager } = this.dataSource;
    const end = await this.chain.readEnd(manager);
    if (end.head?.keyId !== this.keys.chain.first.id) this.refuseHead(end);
    for await (const page of this.walk.pages(manager)) this.refuse(page);
  }

  async run(): Promise<Resealed> {
    await this.signHead();
    for (;;) {
      const sealed = await this.sealer.sealPage();
      if (sealed === 'done') break;
      if (sealed === 'elsewhere') await sleep(RETRY_MS);
    }
    let [attested, takenOver] = [0, 0];
    for await (const page of this.walk.pages(this.dataSource.manager)) {
      attested += await this.attest(page);
      takenOver += page.filter(
        ({ verdict }) => verdict !== 'genuine' && verdict !== 'altered',
      ).length;
    }
    const { manager } = this.dataSource;
    if (await this.records.hasUnsealedOf(manager, this.lost, this.keys.rows.first.id)) {
      throw new AlteredTrailError(
        'Entries of an older key still wait to be sealed: run this again.',
      );
    }
    await this.renewAcceptance();
    return { attested, takenOver };
  }

  /** An acceptance of the trail is an entry with a key of its own, which may be given up: it is repeated with the first key. */
  private async renewAcceptance(): Promise<void> {
    if (this.lost.length > 0) {
      await acceptHead(this.dataSource, this.keys, `the key ${this.lost[0]} was lost`);
      return;
    }
    const accepted = await this.chain.lastAcceptance(this.dataSource.manager);
    if (!accepted || accepted.key_id === this.keys.rows.first.id) return;
    const { valid } = await this.verifier.verify();
    if (!valid) {
      throw new AlteredTrailError(
        'The audit trail was altered after it was accepted: GET /api/audit/verify says more, and the older keys have to stay.',
      );
    }
    await acceptHead(this.dataSource, this.keys, 'accepted before, under an older key');
  }

  private async attest(page: readonly JudgedSeal[]): Promise<number> {
    const { id, key } = this.keys.attestations.first;
    const needed = page.filter(
      ({ seal }) => seal.keyId !== this.keys.chain.first.id || seal.row?.key_id !== id,
    );
    this.refuse(page);
    if (needed.every(({ attestedBy }) => attestedBy === id)) return needed.length;

    const [first, last] = [page[0]!.seal.seq, page.at(-1)!.seal.seq];
    const macs: Buffer[] = Array.from({ length: Number(last - first) + 1 }, () => NOT_ATTESTED);
    for (const { seal, previous, verdict } of page) {
      // What was altered is not attested, so it is found altered for ever.
      if (verdict === 'altered' || !seal.row) continue;
      const how = verdict === 'genuine' ? 'genuine' : 'taken_over';
      macs[Number(seal.seq - first)] = attestationMac(key, how, previous, seal, seal.row);
    }
    await this.records.writeAttestation(this.dataSource.manager, {
      first_seq: first,
      last_seq: last,
      macs: Buffer.concat(macs),
      key_id: id,
    });
    return needed.length;
  }

  private refuse(page: readonly JudgedSeal[]): void {
    for (const { seal, verdict } of page) {
      if (verdict === 'altered' && this.lost.length === 0) {
        throw new AlteredTrailError(
          `The audit trail was altered at ${seal.auditId}: no other key can vouch for it, and the older keys have to stay.`,
        );
      }
      const missing = this.missingFor(seal);
      if (verdict === 'unknown' && missing !== undefined) {
        throw new AlteredTrailError(
          `The audit trail needs the key ${missing}, which is not there.`,
        );
      }
    }
  }

  /** The key that is neither there nor given up as lost. */
  private missingFor({ keyId, row }: JudgedSeal['seal']): string | undefined {
    const isMissing = (ring: KeyRing, id: string) => !ring.find(id) && !this.lost.includes(id);
    if (isMissing(this.keys.chain, keyId)) return keyId;
    return row && isMissing(this.keys.rows, row.key_id) ? row.key_id : undefined;
  }

  private async signHead(): Promise<void> {
    while (!(await this.transactions.run((tx) => this.signHeadIn(tx)))) await sleep(RETRY_MS);
  }

  /** False while another seals. */
  private async signHeadIn(tx: Tx): Promise<boolean> {
    const locked = await this.chain.lockHead(tx);
    const end = await this.chain.readEnd(tx);
    const { head, lastSeal } = end;
    if (!head || head.keyId === this.keys.chain.first.id) return true;
    if (!locked) return false;
    this.refuseHead(end);
    const isLost = this.lost.includes(head.keyId);
    // Nobody can check what the lost key signed, so the last seal counts as the end.
    const point = isLost ? lastSeal : head;
    await this.chain.writeHead(tx, signHead(this.keys.chain.first, point, head));
    return true;
  }
  private refuseHead(end: ChainEnd): void {
    if (!end.head || this.lost.includes(end.head.keyId)) return;
    const fault = faultOfEnd(end, this.keys.chain);
    if (fault !== undefined) throw new AlteredTrailError(`The audit trail was altered: ${fault}.`);
  }
}
