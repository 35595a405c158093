import type { Role } from '../platform/access/roles.js';
import type { IncidentStatus, Severity } from '../incidents/incident.js';

interface Kind {
  /** Who may mend it. */
  readonly role: Role;
  /** What only administrators see. */
  readonly adminOnly?: true;
}

/** What silently did not happen, or may not have. */
export const ATTENTION = {
  playbook_step_failed: { role: 'analyst' },
  playbook_runs_rate_limited: { role: 'admin' },
  action_failed: { role: 'analyst' },
  action_outcome_unknown: { role: 'analyst' },
  approval_expired: { role: 'analyst' },
  triage_failed: { role: 'analyst' },
  webhook_event_failed: { role: 'analyst' },
  resolved_incident_reported: { role: 'analyst' },
  webhook_source_silent: { role: 'admin' },
  connector_unhealthy: { role: 'admin', adminOnly: true },
  notification_channel_unhealthy: { role: 'admin', adminOnly: true },
  notifications_dead: { role: 'admin', adminOnly: true },
} as const satisfies Record<string, Kind>;

export type AttentionKind = keyof typeof ATTENTION;

export const ATTENTION_KINDS = Object.keys(ATTENTION) as AttentionKind[];

export function mayMend(kind: AttentionKind): Role {
  return ATTENTION[kind].role;
}

export function kindsFor(role: Role): AttentionKind[] {
  return ATTENTION_KINDS.filter((kind) => role === 'admin' || !('adminOnly' in ATTENTION[kind]));
}

export interface AttentionItem {
  readonly kind: AttentionKind;
  /** The id or the name of what it is about. */
  readonly subject: string;
  readonly name: string;
  readonly reason: string;
  readonly at: Date;
  /** Where it is read, and mended. */
  readonly link: string;
  readonly incident?: AttentionIncident;
}

export interface AttentionIncident {
  readonly id: string;
  readonly incidentNumber: string;
  readonly title: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
}

export interface AttentionRequest {
  /** Those that the caller may see. */
  readonly kinds: readonly AttentionKind[];
  readonly chosen?: readonly AttentionKind[];
  readonly limit: number;
}

export interface Attention {
  readonly counts: readonly { readonly kind: AttentionKind; readonly count: number }[];
  readonly items: readonly AttentionItem[];
}

/** How an item is named in addresses: no kind has a dot. */
export function attentionId({ kind, subject }: Pick<AttentionItem, 'kind' | 'subject'>): string {
  return `${kind}.${subject}`;
}

export function partsOfId(id: string): Pick<AttentionItem, 'kind' | 'subject'> | undefined {
  const dot = id.indexOf('.');
  const kind = ATTENTION_KINDS.find((one) => one === id.slice(0, dot));
  return kind && { kind, subject: id.slice(dot + 1) };
}
