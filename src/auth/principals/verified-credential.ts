import type { Role } from '../../platform/access/roles.js';
import type { LimitClass } from '../../platform/http/caller.js';

/** A key with the principal that it makes its bearer, as the database last confirmed it. */
export interface VerifiedKey {
  readonly kind: 'key';
  readonly id: string;
  readonly name: string;
  /** The name of the user who owns it; its own name when nobody does. */
  readonly person: string;
  /** The id of that user. */
  readonly personId?: string;
  readonly role: Role;
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  readonly secretHash: Buffer;
  readonly endsAt?: number;
  readonly usedAt: number;
}

/** A session with its user, as the database last confirmed it. */
export interface VerifiedSession {
  readonly kind: 'user';
  /** The id of the user. */
  readonly id: string;
  readonly sessionId: string;
  readonly name: string;
  readonly role: Role;
  readonly endsAt: number;
  readonly usedAt: number;
}

export type VerifiedCredential = VerifiedKey | VerifiedSession;
