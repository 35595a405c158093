import type { AuditAction } from './audit-actions.js';

/** What a change says about itself. */
export interface AuditEntry {
  /** The principal's name as records show it: a user name, `key:<name>`, `system`, … */
  readonly actor: string;
  /** Such as `incident.created` or `auth.login_failed`. */
  readonly action: AuditAction;
  readonly subject: AuditSubject;
  /**
   * What a reader needs beyond that. Never a secret, nor anything from which one follows: the record is kept for ever
   * and read by other people than those who may hold the secret. Long parts are cut, and say so.
   */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditSubject {
  readonly type: string;
  readonly id: string;
}

/** The part of a row that its MAC covers, exactly as PostgreSQL keeps it. */
export interface AuditContent {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject_type: string;
  readonly subject_id: string;
  /** JSON as text: the column is `json`, which keeps every byte. */
  readonly details: string;
  /** The process that wrote the row; null in rows of before there were writers. */
  readonly writer: string | null;
  /** How many rows of its writer had committed, as it knew, when this one was made. */
  readonly written: string | null;
}

export interface AuditRow extends AuditContent {
  readonly key_id: string;
  readonly mac: Buffer;
}
