import type { IncidentState } from '../incidents/incident.js';
import type { Delivery } from './delivery.entity.js';
import type { NotificationChannelEntity } from './notification-channel.entity.js';

/** A claimed delivery. */
export interface ClaimedDelivery extends Delivery {
  /** Remaining time. A failed attempt without remaining time was the last. */
  readonly left_ms: number;
}

/** A delivery that is about to be sent, with the deliveries that its message contains. */
export interface FoldedDelivery {
  readonly delivery: ClaimedDelivery;
  readonly carried: readonly Delivery[];
  /** New incidents of its group in the last 10 minutes, or in its message. */
  readonly alike: number;
}

/** Approvals that one message requested: the subjects of the carrier and of its carried deliveries. */
export interface ApprovalWave {
  readonly first: string;
  readonly carried: readonly string[];
}

/** Current state of the incidents and actions of a message, which may be newer than its events. */
export interface PresentState {
  /** By id, with deleted ones. */
  readonly incidents: ReadonlyMap<string, IncidentState>;
  /** Ids of the actions that wait for approval, with the effect that the connector predicted. */
  readonly waiting: ReadonlyMap<string, string | undefined>;
  /** For PagerDuty: the approvals that were requested together with the subject of the event. */
  readonly wave?: ApprovalWave;
}

/** A delivery that is about to be sent. */
export interface PresentDelivery {
  readonly folded: FoldedDelivery;
  readonly channel: NotificationChannelEntity;
  readonly present: PresentState;
}

/** Progress of a mail that only some recipients have. */
export interface PartlySent {
  /** Recipients who have the mail: the next attempt is for the others. */
  readonly holders: readonly string[];
  /** Attempts that left some recipients without the mail. */
  readonly attempts: number;
}
