import type { IncidentState } from '../incidents/incident.js';
import type { EventSubject } from '../platform/work/domain-event.js';
import type { PageRequest } from '../platform/paging/page.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event on its way to one channel, or there. */
export interface Delivery {
  readonly id: string;
  readonly channelId: string;
  readonly eventId: string;
  /** The name of the domain event. */
  readonly type: string;
  readonly subject: EventSubject;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly occurredAt: Date;
  readonly incidentId?: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** No attempt before. */
  readonly nextAttemptAt: Date;
  readonly expiresAt: Date;
  readonly lastError?: string;
  readonly endedAt?: Date;
  /** New incidents with the same key are alike, and may be one message; undefined for a message of its own. */
  readonly groupKey?: string;
  /** The delivery whose message has this one in it. */
  readonly carriedBy?: string;
}

/** A delivery that is about to be sent, with those that its message has in it. */
export interface FoldedDelivery {
  readonly delivery: ClaimedDelivery;
  readonly carried: readonly Delivery[];
  /** New incidents of its group in the last 10 minutes, or in its message. */
  readonly alike: number;
}

/** Approvals that one message asked for: the subjects of its carrier and of what it carried. */
export interface ApprovalWave {
  readonly first: string;
  readonly carried: readonly string[];
}

/** Current state of the incidents and actions of a message, which may be newer than its events. */
export interface PresentState {
  /** By id, with deleted ones. */
  readonly incidents: ReadonlyMap<string, IncidentState>;
  /** Ids of the actions that wait for approval, with what each of them would change, if its connector has said so. */
  readonly waiting: ReadonlyMap<string, string | undefined>;
  /** For PagerDuty: the approvals that were asked for together with the one that the event is about. */
  readonly wave?: ApprovalWave;
}

/** Progress of a mail that some recipients have and others do not. */
export interface PartlySent {
  /** Recipients who have the mail: the next attempt is for the others. */
  readonly holders: readonly string[];
  /** Attempts that left some recipients without the mail. */
  readonly attempts: number;
}

/** A delivery that this replica attempts. */
export interface ClaimedDelivery extends Delivery {
  /** How much of its day is left; an attempt that fails with nothing left was the last. */
  readonly leftMs: number;
  readonly partlySent: PartlySent;
}

export interface DeliveryListRequest extends PageRequest {
  readonly channelId: string;
  readonly statuses?: readonly DeliveryStatus[];
  readonly descending: boolean;
}
