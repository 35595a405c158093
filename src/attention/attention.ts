import { sortWords } from '../platform/paging/page.js';
import type { Role } from '../platform/access/roles.js';
import type { IncidentSummary } from '../incidents/incident.js';

interface Kind {
  /** Minimum role to mark an item as done. */
  readonly role: Role;
  /** Visible only to administrators. */
  readonly adminOnly?: true;
}

/** Kinds of silent failures. */
const ATTENTION = {
  playbook_step_failed: { role: 'analyst' },
  playbook_step_undone: { role: 'analyst' },
  playbook_runs_rate_limited: { role: 'analyst' },
  action_failed: { role: 'analyst' },
  action_outcome_unknown: { role: 'analyst' },
  approval_expired: { role: 'analyst' },
  triage_failed: { role: 'analyst' },
  webhook_event_failed: { role: 'analyst' },
  resolved_incident_reported: { role: 'analyst' },
  verdict_outdated: { role: 'analyst' },
  webhook_source_silent: { role: 'admin' },
  connector_unhealthy: { role: 'admin', adminOnly: true },
  notification_channel_unhealthy: { role: 'admin', adminOnly: true },
  notifications_dead: { role: 'admin', adminOnly: true },
  secrets_lost: { role: 'admin', adminOnly: true },
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
  /** Id or name of the failed resource. */
  readonly subject: string;
  readonly name: string;
  readonly reason: string;
  readonly at: Date;
  /** Path of the resource. */
  readonly link: string;
  readonly incident?: AttentionIncident;
}

export type AttentionIncident = Pick<
  IncidentSummary,
  'id' | 'incident_number' | 'title' | 'severity' | 'status'
>;

export const ATTENTION_SORTS = sortWords('urgency', 'at', 'created_at', 'name');
export type AttentionSort = (typeof ATTENTION_SORTS)[number];

/** Number of items of each kind that the order by urgency puts before the others, so that many of one kind hide no other. */
export const FIRST_OF_A_KIND = 3;

export interface AttentionRequest {
  /** Kinds that the caller may see. */
  readonly kinds: readonly AttentionKind[];
  readonly chosen?: readonly AttentionKind[];
  readonly sort: AttentionSort;
  readonly page: number;
  readonly perPage: number;
}

export interface Attention {
  /** Number of items of the chosen kinds. */
  readonly total: number;
  readonly counts: readonly { readonly kind: AttentionKind; readonly count: number }[];
  readonly items: readonly AttentionItem[];
}

/** Id of an item in paths. No kind contains a dot. */
export function attentionId({ kind, subject }: Pick<AttentionItem, 'kind' | 'subject'>): string {
  return `${kind}.${subject}`;
}

export function partsOfId(id: string): Pick<AttentionItem, 'kind' | 'subject'> | undefined {
  const dot = id.indexOf('.');
  const kind = ATTENTION_KINDS.find((one) => one === id.slice(0, dot));
  return kind && { kind, subject: id.slice(dot + 1) };
}
