import type { PageRequest } from '../../platform/paging/page.js';

/** What the entry is about, beside the incident: `type` is such as `action`, `triage`, `webhook_event`. */
export interface TimelineSubject {
  readonly type: string;
  readonly id: string;
}

/** What happened to an incident, in the words that its readers see. */
export interface TimelineEntry {
  readonly at: Date;
  /** In the past tense: `updated`, `triaged`, `action_requested`. */
  readonly event: string;
  readonly actor: string;
  readonly summary: string;
  readonly subject?: TimelineSubject;
}

export interface NewTimelineEntry extends Omit<TimelineEntry, 'at'> {
  readonly incidentId: string;
}

export interface TimelineRequest extends PageRequest {
  readonly newestFirst?: boolean;
}
