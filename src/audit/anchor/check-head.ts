import type { EntityManager } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import type { AuditKeys } from '../chain/audit-keys.js';
import { AuditWitness } from './audit-witness.js';
import { AuditWriter } from '../writing/audit-writer.js';
import { readLoggedHead } from './logged-head.js';

/** In words, why the line proves nothing or what it proves; undefined when the trail leads through where it says. */
export async function faultOfLine(
  manager: EntityManager,
  keys: AuditKeys,
  line: string,
): Promise<string | undefined> {
  const read = readLoggedHead(line, keys);
  if ('fault' in read) return `${read.fault}.`;
  const witness = new AuditWitness(
    new AuditChainRepository(),
    keys,
    new AuditWriter(),
    new Clock(),
  );
  if (await witness.isHonoured(manager, read.point)) return undefined;
  return `The service wrote this line, and the audit trail does not lead through seal ${read.point.seq} as it was then: it was put back or made anew since.`;
}
