import type { WebhookEventStatus } from '../events/webhook-event.js';
import type { ReadEvent } from '../reading/read-events.js';

/** A verified body on its way into the inbox. */
export interface Arrival {
  /** Of its row in the inbox. */
  readonly id: string;
  readonly source: string;
  readonly body: Buffer;
  /** SHA-256. */
  readonly bodyHash: Buffer;
  readonly receivedAt: Date;
}

/** What became of one event of a body. */
export interface SettledEvent {
  readonly outcome: 'created' | 'duplicate' | 'updated';
  readonly incidentId: string;
  readonly incidentNumber: string;
}

/** Events of a body that are settled together: all of them, or none. */
export interface SettledReceipt {
  readonly arrival: Arrival;
  readonly events: readonly SettledEvent[];
  /** Of a body that brought nothing new. */
  readonly repeats?: EarlierReceipt;
}

/** The receipt with the same bytes, or else the one that brought the first event of the body. */
export interface EarlierReceipt {
  readonly id: string;
  readonly hasBytes: boolean;
}

export interface ReadReceipt {
  readonly arrival: Arrival;
  readonly events: readonly ReadEvent[];
}

/** The status of a receipt. What is new counts most. */
export function statusOf(events: readonly Pick<SettledEvent, 'outcome'>[]): WebhookEventStatus {
  const outcomes = new Set(events.map(({ outcome }) => outcome));
  if (outcomes.has('created')) return 'processed';
  return outcomes.has('updated') ? 'updated' : 'duplicate';
}

/** The principal as which the incidents of a source are made. */
export function principalOf(source: string): string {
  return `webhook:${source}`;
}
