import type { DataSource } from 'typeorm';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import type { AuditKeys } from '../chain/audit-keys.js';
import type { AuditLog } from '../audit-log.js';
import { logOfCommand } from '../writing/log-of-command.js';

export const HEAD_ACCEPTED = 'audit.head_accepted';

/**
 * Takes the trail as it is for the right one: after the restore of a backup, or when its seals were made anew. It is a
 * record in the trail, which nobody can make without the key. Every process that finds it forgets what it witnessed
 * before.
 */
export async function acceptHead(
  dataSource: DataSource,
  keys: AuditKeys,
  reason: string,
): Promise<void> {
  const log = logOfCommand(dataSource, keys);
  await new Transactions(dataSource).run((tx) => recordAcceptance(tx, log, reason));
}

/** The same in the transaction that makes the trail what it is. */
export async function recordAcceptance(tx: Tx, log: AuditLog, reason: string): Promise<void> {
  await log.record(tx, {
    actor: 'system',
    action: HEAD_ACCEPTED,
    subject: { type: 'audit', id: 'head' },
    details: { reason },
  });
}
