import type { WebhookEventStatus } from '../events/webhook-event.js';
import type { ReadEvent } from '../reading/read-events.js';

/** A verified body on its way into the inbox. */
export interface Arrival {
  /** Id of the inbox row. */
  readonly id: string;
  readonly source: string;
  readonly body: Buffer;
  /** SHA-256 of the body. */
  readonly bodyHash: Buffer;
  readonly receivedAt: Date;
}

/** Outcome of one event of a body. */
export interface SettledEvent {
  readonly outcome: 'created' | 'duplicate' | 'updated';
  readonly incidentId: string;
  readonly incidentNumber: string;
}

/** Events of a body that are settled together: all of them, or none. */
export interface SettledReceipt {
  readonly arrival: Arrival;
  readonly events: readonly SettledEvent[];
  /** The earlier receipt, if the body has nothing new. */
  readonly repeats?: EarlierReceipt;
}

/** The receipt with the same bytes, or the receipt that first had the first event of the body. */
export interface EarlierReceipt {
  readonly id: string;
  readonly hasBytes: boolean;
}

export interface ReadReceipt {
  readonly arrival: Arrival;
  readonly events: readonly ReadEvent[];
}

/** Status of a receipt: a created incident outranks an update, and an update outranks a duplicate. */
export function statusOf(events: readonly Pick<SettledEvent, 'outcome'>[]): WebhookEventStatus {
  const outcomes = new Set(events.map(({ outcome }) => outcome));
  if (outcomes.has('created') || events.length === 0) return 'processed';
  return outcomes.has('updated') ? 'updated' : 'duplicate';
}

/** Principal name that creates the incidents of a source. */
export function principalOf(source: string): string {
  return `webhook:${source}`;
}
