import type { AuditEntry } from '../../audit/audit-entry.js';

/** A refusal, and on whose account its rows go. */
export interface Refusal {
  readonly entry: AuditEntry;
  /** A principal who may not do it; somebody at the login of a user who exists; somebody of whom nothing is known. */
  readonly by: 'principal' | 'account' | 'stranger';
  /** Of the principal, of the user, or the network that the address belongs to. */
  readonly name: string;
}
