import type { Role } from '../access/roles.js';
import type { Participant, Tx } from '../database/transactions.js';

export type LimitClass = 'read' | 'write' | 'triage';

/**
 * Who makes a request, as far as the lower floors need to know. As a participant of a transaction it makes sure, inside
 * that transaction, that the key or session still holds: a write never rests on a cached answer.
 */
export interface Caller extends Participant {
  /** The principal name as records show it: a user name, `key:<name>`, … Never reused for another principal. */
  readonly name: string;
  /** For pages that say what their reader may do. What is allowed, the guards judge. */
  readonly role: Role;
  /** Limits of its own, per minute, instead of the configured ones. */
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  /** Required, so that a copy that lost it does not compile: without it a revoked key would still write. */
  begin(tx: Tx): Promise<void>;
}
