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
