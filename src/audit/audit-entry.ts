import type { AuditAction } from './audit-actions.js';
import type { AuditLogEntity } from './audit-log.entity.js';

/** What a change says about itself. */
export interface AuditEntry {
  /** The principal's name as records show it: a user name, `key:<name>`, `system`, … */
  readonly actor: string;
  /** Such as `incident.created` or `auth.login_failed`. */
  readonly action: AuditAction;
  readonly subject: AuditSubject;
  /**
   * What a reader needs to know beyond that. Never a secret, nor anything that a secret can be found out from: the entry
   * is kept for ever, and read by other people than those who may know the secret. Long parts are cut, and say so.
   */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditSubject {
  readonly type: string;
  readonly id: string;
}

/** A row as MACs cover it: its details are the text that PostgreSQL keeps, byte for byte. */
export interface AuditRow extends Omit<AuditLogEntity, 'details' | 'xid'> {
  readonly details: string;
}

/** The part of a row that its MAC covers. */
export type AuditContent = Omit<AuditRow, 'key_id' | 'mac'>;
