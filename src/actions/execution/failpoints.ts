import { Injectable } from '@nestjs/common';

/** The places of an execution at which a crash leaves something different behind, in their order. */
export const FAILPOINT = {
  /** Nobody has claimed the action: it was put back, or was held. What is requested or approved is claimed with that. */
  unclaimed: 1,
  /** It is claimed, and nothing was sent. */
  claimed: 2,
  /** It is noted that a call may be on its way, and nothing has left. */
  sending: 3,
  /** The connector has an outcome, which nobody has written down. */
  answered: 4,
  /** The vendor's word that it is working on it is written down. */
  vendorAccepted: 5,
  /** The outcome is about to be committed. */
  finishing: 6,
  /** The outcome is committed, and has not been answered to anybody. */
  finished: 7,
  /** Not a step of its own: passed before each renewal of a lease, so that a run that is stopped here renews none. */
  renewing: 8,
} as const;

/** Where a test can make a process die. Nothing happens here otherwise. */
@Injectable()
export class Failpoints {
  async hit(_point: number): Promise<void> {}
}
