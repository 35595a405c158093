import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { type Tx, Transactions } from '../../platform/database/transactions.js';
import { attestationMac, type AuditKeys, faultOfEnd, signHead } from './audit-chain.js';
import { AuditChainRepository } from './audit-chain.repository.js';
import { AuditSealer } from './audit-sealer.js';
import { AuditVerifier, judgedPages, type JudgedSeal } from './audit-verifier.js';
import { acceptHead, AuditWitness } from './audit-witness.js';

const RETRY_MS = 50;

/**
 * Makes the trail verifiable with the first key only. Verifies everything with its own keys and attests with the first
 * key whatever needs an older one. Rows and seals do not change. Each page is a transaction, and finished pages are
 * recognised, so an interrupted run can be repeated. The service may seal meanwhile.
 */
export class AuditResealing {
  private readonly transactions: Transactions;
  private readonly chain = new AuditChainRepository();
  private readonly sealer: AuditSealer;
  private readonly verifier: AuditVerifier;

  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: AuditKeys,
  ) {
    this.transactions = new Transactions(dataSource);
    const clock = new Clock();
    const witness = new AuditWitness(this.chain, keys, clock);
    this.sealer = new AuditSealer(this.transactions, this.chain, keys, witness);
    this.verifier = new AuditVerifier(this.transactions, this.chain, keys, witness, clock);
  }

  /** Returns the number of seals that an older key made, or whose row it signed. */
  async run(): Promise<number> {
    const { manager } = this.dataSource;
    await this.signHead();
    for (;;) {
      const sealed = await this.sealer.sealPage();
      if (sealed === 'done') break;
      if (sealed === 'elsewhere') await sleep(RETRY_MS);
    }
    let attested = 0;
    for await (const page of judgedPages(manager, this.chain, this.keys)) {
      attested += await this.attest(page);
    }
    if (await this.chain.hasUnsealedOfOthers(manager, this.keys.rows.first.id)) {
      throw new Error('Entries of an older key still wait to be sealed. Run this command again.');
    }
    await this.renewAcceptance();
    return attested;
  }

  /** Repeats the last acceptance of the trail with the first key, because the key of its entry may be given up. */
  private async renewAcceptance(): Promise<void> {
    const accepted = await this.chain.lastAcceptance(this.dataSource.manager);
    if (!accepted || accepted.key_id === this.keys.rows.first.id) return;
    const { valid } = await this.verifier.verify();
    if (!valid) {
      throw new Error(
        'The audit trail was altered after it was accepted: see GET /api/audit/verify. Keep the older keys.',
      );
    }
    await acceptHead(this.dataSource, this.keys, 'accepted before, under an older key');
  }

  private async attest(page: readonly JudgedSeal[]): Promise<number> {
    const { id, key } = this.keys.attestations.first;
    const needed = page.filter(
      ({ seal }) => seal.key_id !== this.keys.chain.first.id || seal.row?.key_id !== id,
    );
    this.requireGenuine(page);
    if (needed.every(({ attestedBy }) => attestedBy === id)) return needed.length;

    const [first, last] = [page[0]!.seal.seq, page.at(-1)!.seal.seq];
    const macs = page.map(({ seal, previous }) => attestationMac(key, previous, seal, seal.row!));
    await this.chain.writeAttestation(this.dataSource.manager, {
      first_seq: first,
      last_seq: last,
      macs: Buffer.concat(macs),
      key_id: id,
    });
    return needed.length;
  }

  private requireGenuine(page: readonly JudgedSeal[]): void {
    for (const { seal, verdict } of page) {
      if (verdict === 'altered') {
        throw new Error(
          `The audit trail was altered at ${seal.audit_id}, so no other key can attest it. Keep the older keys.`,
        );
      }
      if (verdict === 'unknown') {
        const missing = this.keys.chain.find(seal.key_id) ? seal.row!.key_id : seal.key_id;
        throw new Error(
          `SECRETS_KEY does not contain the key ${missing} of the audit trail. Add the key and run the command again.`,
        );
      }
    }
  }

  private async signHead(): Promise<void> {
    while (!(await this.transactions.run((tx) => this.signHeadIn(tx)))) await sleep(RETRY_MS);
  }

  /** `false` while another sealer holds the head. */
  private async signHeadIn(tx: Tx): Promise<boolean> {
    const locked = await this.chain.lockHead(tx);
    const end = await this.chain.readEnd(tx);
    const { head } = end;
    if (!head || head.key_id === this.keys.chain.first.id) return true;
    if (!locked) return false;
    const fault = faultOfEnd(end, this.keys.chain);
    if (fault !== undefined) throw new Error(`The audit trail was altered: ${fault}.`);
    await this.chain.writeHead(tx, signHead(this.keys.chain.first, head, head));
    return true;
  }
}
