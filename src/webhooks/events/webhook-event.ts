import type { PageRequest } from '../../platform/paging/page.js';

export const WEBHOOK_EVENT_STATUSES = [
  'queued',
  'processed',
  'duplicate',
  'updated',
  'failed',
] as const;

/**
 * What became of a receipt: it waits for a worker, made incidents, repeated what was received before, changed an incident
 * that an earlier one had made, or could not be read.
 */
export type WebhookEventStatus = (typeof WEBHOOK_EVENT_STATUSES)[number];

/** What a worker or a person still has to do something about. */
export const UNSETTLED = ['queued', 'failed'] as const satisfies readonly WebhookEventStatus[];
export type UnsettledStatus = (typeof UNSETTLED)[number];

/** One receipt, as analysts see it. */
export interface WebhookEvent {
  readonly id: string;
  readonly source: string;
  readonly status: WebhookEventStatus;
  /** Those that it made or changed, or that the first receipt of a duplicate made. */
  readonly incidentIds: readonly string[];
  /** The receipt with the same bytes, or else the one that brought the event first. */
  readonly duplicateOf?: string;
  /** Why it failed. */
  readonly error?: string;
  readonly attempts: number;
  readonly receivedAt: Date;
  readonly processedAt?: Date;
}

export interface WebhookEventWithBody extends WebhookEvent {
  /** The bytes that came. A duplicate has none when those of the event that it repeats are the same. */
  readonly body?: Buffer;
}

export interface WebhookEventListRequest extends PageRequest {
  readonly filter: {
    readonly sources?: readonly string[];
    readonly statuses?: readonly WebhookEventStatus[];
  };
  /** By the time of receipt. */
  readonly descending: boolean;
}
