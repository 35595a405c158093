import type { DataSource } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { Statements } from '../../platform/database/statements.js';
import type { AuditKeys } from '../chain/audit-keys.js';
import { AuditLog } from '../audit-log.js';

/** For what is run by hand: a writer of its own, which ends with the process. */
export function logOfCommand(dataSource: DataSource, keys: AuditKeys): AuditLog {
  return new AuditLog(new Statements(dataSource), keys, new Clock());
}
