import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { type Tx, Transactions } from '../../platform/database/transactions.js';
import type { KeyRing } from '../../platform/secrets/secret-box.js';
import { acceptHead, AuditWitness } from '../anchor/audit-witness.js';
import { attestationMac, NOT_ATTESTED } from './audit-attestation.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import { type AuditKeys, type ChainEnd, faultOfEnd, signHead } from '../chain/audit-chain.js';
import { AuditSealer } from '../chain/audit-sealing.js';
import { AuditVerifier, type JudgedSeal, SealWalk } from './audit-verifier.js';
import { AuditVerifyRepository } from './audit-verify.repository.js';

const RETRY_MS = 50;

interface Resealed {
  /** Seals of an older key, or with a row of an older key. */
  readonly attested: number;
  /** Seals that can no longer be verified. */
  readonly takenOver: number;
}

/** The trail was altered, so the first key must not sign it. */
class AlteredTrailError extends Error {}

/**
 * Makes the trail verifiable with the first key only. Verifies everything with its own keys and attests with the first
 * key whatever needs an older one. Rows and seals do not change. Each page is a transaction, and finished pages are
 * recognised, so an interrupted run can be repeated. The service may seal meanwhile.
 */
export class AuditResealing {
  private readonly transactions: Transactions;
  private readonly chain = new AuditChainRepository();
  private readonly records = new AuditVerifyRepository();
  private readonly sealer: AuditSealer;
  private readonly walk: SealWalk;
  private readonly verifier: AuditVerifier;

  /**
   * @param lost ids of lost keys; seals by them are accepted as they are. The first is the key to give up. Keys that
   * were retired before may follow: the first has attested their seals.
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: AuditKeys,
    private readonly lost: readonly string[] = [],
  ) {
    this.transactions = new Transactions(dataSource);
    const clock = new Clock();
    const witness = new AuditWitness(this.chain, keys, clock);
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

  /** Throws the error that `run` would throw, before anything is written. */
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
        'Entries of an older key still wait to be sealed. Run this command again.',
      );
    }
    await this.renewAcceptance();
    return { attested, takenOver };
  }

  /** Repeats the last acceptance of the trail with the first key, because the key of its entry may be given up. */
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
        'The audit trail was altered after it was accepted: see GET /api/audit/verify. Keep the older keys.',
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
      // An altered seal is not attested, so later verifications find it.
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
          `The audit trail was altered at ${seal.auditId}, so no other key can attest it. Keep the older keys.`,
        );
      }
      const missing = this.missingFor(seal);
      if (verdict === 'unknown' && missing !== undefined) {
        throw new AlteredTrailError(`The audit trail needs the key ${missing}, which is missing.`);
      }
    }
  }

  /** A key that is missing and not given up as lost. */
  private missingFor({ keyId, row }: JudgedSeal['seal']): string | undefined {
    const isMissing = (ring: KeyRing, id: string) => !ring.find(id) && !this.lost.includes(id);
    if (isMissing(this.keys.chain, keyId)) return keyId;
    return row && isMissing(this.keys.rows, row.key_id) ? row.key_id : undefined;
  }

  private async signHead(): Promise<void> {
    while (!(await this.transactions.run((tx) => this.signHeadIn(tx)))) await sleep(RETRY_MS);
  }

  /** `false` while another sealer holds the head. */
  private async signHeadIn(tx: Tx): Promise<boolean> {
    const locked = await this.chain.lockHead(tx);
    const end = await this.chain.readEnd(tx);
    const { head, lastSeal } = end;
    if (!head || head.keyId === this.keys.chain.first.id) return true;
    if (!locked) return false;
    this.refuseHead(end);
    const isLost = this.lost.includes(head.keyId);
    // The signature of a lost key cannot be checked, so the last seal counts as the end.
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
