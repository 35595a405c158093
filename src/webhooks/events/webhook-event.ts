import type { PageRequest } from '../../platform/paging/page.js';

export const WEBHOOK_EVENT_STATUSES = [
  'queued',
  'processed',
  'duplicate',
  'updated',
  'failed',
] as const;

/**
 * Status of a receipt: it waits for a worker, created incidents, repeated an earlier receipt, updated an incident, or could not
 * be read.
 */
export type WebhookEventStatus = (typeof WEBHOOK_EVENT_STATUSES)[number];

/** Statuses that need work by a worker or a person. */
export const UNSETTLED = ['queued', 'failed'] as const satisfies readonly WebhookEventStatus[];
export type UnsettledStatus = (typeof UNSETTLED)[number];

/** One receipt, as analysts see it. */
export interface WebhookEvent {
  readonly id: string;
  readonly source: string;
  readonly status: WebhookEventStatus;
  /** Incidents that the receipt created or updated, or that the first receipt of a duplicate created. */
  readonly incidentIds: readonly string[];
  /** Number of these incidents. A list holds only the first ids. */
  readonly incidentCount: number;
  /** Receipt with the same bytes, or the first receipt of the event. */
  readonly duplicateOf?: string;
  /** Reason of the failure. */
  readonly error?: string;
  readonly attempts: number;
  readonly receivedAt: Date;
  readonly processedAt?: Date;
}

export interface WebhookEventWithBody extends WebhookEvent {
  /** Bytes of the body. Absent for a duplicate with the same bytes as the event that it repeats. */
  readonly body?: Buffer;
}

export interface WebhookEventListRequest extends PageRequest {
  readonly filter: {
    readonly sources?: readonly string[];
    readonly statuses?: readonly WebhookEventStatus[];
  };
  /** Sorts by time of receipt, the newest first. */
  readonly descending: boolean;
}
