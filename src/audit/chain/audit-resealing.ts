import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import type { Settings } from '../../platform/config/settings.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { AuditKeys } from './audit-chain.js';
import { AuditChainRepository } from './audit-chain.repository.js';
import { AuditSealer } from './audit-sealer.js';
import { AuditVerifier } from './audit-verifier.js';
import { acceptHead, AuditWitness } from './audit-witness.js';

const RETRY_MS = 50;

/**
 * Makes the trail verifiable with only the first key. Seals and verifies all rows, and stores the older keys encrypted with the
 * first key. Rows and seals do not change. The service may seal at the same time, and an interrupted run can be repeated.
 * Returns the number of verified entries.
 */
export async function resealTrail(
  dataSource: DataSource,
  keys: AuditKeys,
  settings: Settings,
): Promise<number> {
  const { manager } = dataSource;
  const transactions = new Transactions(dataSource);
  const chain = new AuditChainRepository();
  const clock = new Clock();
  const witness = new AuditWitness(settings, chain, keys, clock);
  await witness.load();
  const hasFile = witness.head.seq > 0n;
  const sealer = new AuditSealer(transactions, chain, keys, witness);
  for (;;) {
    const sealed = await sealer.sealPage();
    if (sealed === 'done') break;
    if (sealed === 'elsewhere') await sleep(RETRY_MS);
  }
  const verifier = new AuditVerifier(transactions, chain, keys, witness, clock);
  const { valid, checked, first_invalid_id: id } = await verifier.verify();
  if (!valid) {
    const place = id === undefined ? '' : ` at ${id}`;
    throw new Error(
      `The audit trail was altered${place}: see GET /api/audit/verify. Keep the older keys.`,
    );
  }
  const firstId = keys.rows.first.id;
  if (await chain.hasUnsealedOfOthers(manager, firstId)) {
    throw new Error('Entries of an older key still wait to be sealed. Run this command again.');
  }
  const accepted = await chain.lastAcceptance(manager);
  // A retired key must not sign an acceptance.
  if (accepted && accepted.key_id !== firstId) {
    await acceptHead(dataSource, keys, 'accepted before, under an older key');
  }
  const { lastSeal } = await chain.readEnd(manager);
  await transactions.run((tx) => chain.writeRetiredKeys(tx, keys.retireOlder(lastSeal.seq)));
  // Signs the file with the first key.
  if (hasFile) await witness.save();
  return checked;
}
