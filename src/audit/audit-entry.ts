import type { AuditLogEntity } from './audit.entity.js';

/** Names of all audit records. A filter with another name is rejected as a typing error. */
export const AUDIT_ACTIONS = [
  'action.approved',
  'action.completed',
  'action.failed',
  'action.rejected',
  'action.requested',
  'api_key.created',
  'api_key.revoked',
  'attention.done',
  'audit.exported',
  'audit.head_accepted',
  'auth.cross_origin_refused',
  'auth.key_refused',
  'auth.level_refused',
  'auth.login',
  'auth.login_failed',
  'auth.login_limited',
  'auth.logout',
  'auth.own_request_refused',
  'auth.refusals_counted',
  'auth.role_refused',
  'auth.session_ended',
  'connector.created',
  'connector.deleted',
  'connector.tested',
  'connector.updated',
  'database.restored',
  'incident.created',
  'incident.deleted',
  'incident.severity_lowered',
  'incident.updated',
  'job.requeued',
  'kill_switch.activated',
  'kill_switch.deactivated',
  'notification_channel.created',
  'notification_channel.deleted',
  'notification_channel.tested',
  'notification_channel.updated',
  'notification_delivery.redelivered',
  'playbook.created',
  'playbook.deleted',
  'playbook.run_cancelled',
  'playbook.run_completed',
  'playbook.run_failed',
  'playbook.run_started',
  'playbook.updated',
  'secrets.resealed',
  'triage.completed',
  'triage.failed',
  'triage.requested',
  'user.created',
  'user.deleted',
  'user.password_changed',
  'user.updated',
  'webhook.refused',
  'webhook_event.replayed',
  'webhook_source.created',
  'webhook_source.deleted',
  'webhook_source.updated',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const HEAD_ACCEPTED = 'audit.head_accepted' satisfies AuditAction;

export interface AuditEntry {
  /** Name of the principal in records: a user name, `key:<name>`, `system`, … */
  readonly actor: string;
  readonly action: AuditAction;
  readonly subject: AuditSubject;
  /** Must not contain a secret, because entries are never deleted. Long values are cut and marked. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditSubject {
  readonly type: string;
  readonly id: string;
}

/** Row in the form that its MAC covers: `details` is the exact text in PostgreSQL. */
export interface AuditRow extends Omit<AuditLogEntity, 'details' | 'xid'> {
  readonly details: string;
}

export type AuditContent = Omit<AuditRow, 'key_id' | 'mac'>;
