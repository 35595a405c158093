import type { AuditLogEntity } from './audit.entity.js';

const EVENTS = {
  action: ['approved', 'completed', 'failed', 'rejected', 'requested'],
  api_key: ['created', 'revoked'],
  attention: ['done'],
  audit: ['exported', 'head_accepted'],
  auth: [
    'cross_origin_refused',
    'key_refused',
    'level_refused',
    'login',
    'login_failed',
    'login_limited',
    'logout',
    'own_request_refused',
    'refusals_counted',
    'role_refused',
    'session_ended',
  ],
  connector: ['created', 'deleted', 'tested', 'updated'],
  database: ['restored'],
  incident: ['created', 'deleted', 'severity_lowered', 'updated'],
  job: ['requeued'],
  kill_switch: ['activated', 'deactivated'],
  notification_channel: ['created', 'deleted', 'tested', 'updated'],
  notification_delivery: ['redelivered'],
  playbook: [
    'created',
    'deleted',
    'run_cancelled',
    'run_completed',
    'run_failed',
    'run_started',
    'updated',
  ],
  secrets: ['resealed'],
  triage: ['completed', 'failed', 'requested'],
  user: ['created', 'deleted', 'password_changed', 'updated'],
  webhook: ['refused'],
  webhook_event: ['replayed'],
  webhook_source: ['created', 'deleted', 'updated'],
} as const;
type Events = typeof EVENTS;
export type AuditAction = {
  [Subject in keyof Events]: `${Subject}.${Events[Subject][number]}`;
}[keyof Events];

export const AUDIT_ACTIONS = Object.entries(EVENTS).flatMap(([subject, events]) =>
  events.map((event) => `${subject}.${event}` as AuditAction),
);

export const HEAD_ACCEPTED = 'audit.head_accepted' satisfies AuditAction;

export interface AuditEntry {
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

/** Entry in the form that its MAC covers: `details` is the exact text that PostgreSQL stores. */
export interface AuditRow extends Omit<AuditLogEntity, 'details' | 'xid'> {
  readonly details: string;
}

export type AuditContent = Omit<AuditRow, 'key_id' | 'mac'>;
