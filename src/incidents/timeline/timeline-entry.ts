import type { PageRequest } from '../../platform/paging/page.js';

/** What the entry is about, beside the incident: `type` is such as `action`, `triage`, `webhook_event`. */
export interface TimelineSubject {
  readonly type: string;
  readonly id: string;
}

/** How a field of the incident was, and how it is now; without one, there was, or is, nothing. */
export interface TimelineChange {
  readonly field: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** What a colleague asks who reads the entry. */
export interface TimelineDetails {
  readonly action_type?: string;
  /** What the action is done to; cut when it is long. */
  readonly target?: string;
  /** All of the action, where it was requested. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The action that this one undoes. */
  readonly rollback_of?: string;
  /** Why an action was requested, rolled back or rejected. */
  readonly reason?: string;
  /** What the approver said. */
  readonly comment?: string;
  readonly resolution?: string;
  readonly changes?: readonly TimelineChange[];
}

/** What happened to an incident, in the words that its readers see. */
export interface TimelineEntry {
  readonly at: Date;
  /** In the past tense: `updated`, `triaged`, `action_requested`. */
  readonly event: string;
  readonly actor: string;
  readonly summary: string;
  readonly subject?: TimelineSubject;
  readonly details?: TimelineDetails;
}

export interface NewTimelineEntry extends Omit<TimelineEntry, 'at'> {
  readonly incidentId: string;
}

export interface TimelineRequest extends PageRequest {
  readonly newestFirst?: boolean;
}
