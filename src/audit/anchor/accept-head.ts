import type { DataSource, EntityManager } from 'typeorm';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { HEAD_ACCEPTED } from '../audit-actions.js';
import { type AuditLog, logOfCommand } from '../audit-log.js';
import { isGenuine } from '../chain/audit-chain.js';
import type { AuditChainRepository } from '../chain/audit-chain.repository.js';
import type { AuditKeys } from '../chain/audit-keys.js';

/**
 * Takes the trail as it is for the right one: after the restore of a backup, or when its seals were made again. The
 * acceptance is an entry of the trail itself, which nobody can make without the key. Every process that finds the entry
 * forgets what it had seen of the trail before.
 */
export async function acceptHead(
  dataSource: DataSource,
  keys: AuditKeys,
  reason: string,
): Promise<void> {
  const log = logOfCommand(dataSource, keys);
  await new Transactions(dataSource).run((tx) => recordAcceptance(tx, log, reason));
}

/** Accepts the trail in the transaction that makes it what it is. */
export async function recordAcceptance(tx: Tx, log: AuditLog, reason: string): Promise<void> {
  await log.record(tx, {
    actor: 'system',
    action: HEAD_ACCEPTED,
    subject: { type: 'audit', id: 'head' },
    details: { reason },
  });
}

/** When somebody with the key last accepted the trail, in milliseconds; 0 when nobody has. */
export async function lastAcceptedAt(
  manager: EntityManager,
  chain: AuditChainRepository,
  keys: AuditKeys,
): Promise<number> {
  const row = await chain.lastAcceptance(manager);
  return row && isGenuine(row, keys.rows) ? row.at.getTime() : 0;
}
