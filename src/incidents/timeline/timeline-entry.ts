import type { PageRequest } from '../../platform/paging/page.js';

export interface TimelineSubject {
  /** Such as `action`, `triage`, `webhook_event`. */
  readonly type: string;
  readonly id: string;
}

/** What happened to an incident, in the words that its readers see. */
export interface NewTimelineEntry {
  readonly incidentId: string;
  /** In the past tense: `updated`, `triaged`, `action_requested`. */
  readonly event: string;
  readonly actor: string;
  readonly summary: string;
  readonly subject?: TimelineSubject;
}

export interface TimelineEntry {
  readonly at: Date;
  readonly event: string;
  readonly actor: string;
  readonly summary: string;
  readonly subject?: TimelineSubject;
}

export interface TimelineRequest extends PageRequest {
  readonly newestFirst?: boolean;
}
