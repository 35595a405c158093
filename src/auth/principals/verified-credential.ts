import type { Role } from '../../platform/access/roles.js';
import type { LimitClass } from '../../platform/http/caller.js';

/** Who stands behind a credential, as the database last confirmed it. */
export interface VerifiedKey {
  readonly kind: 'key';
  readonly id: string;
  readonly name: string;
  /** The user whose key it is; its own name when it is nobody's. */
  readonly person: string;
  readonly personId?: string;
  readonly role: Role;
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  readonly secretHash: Buffer;
  readonly endsAt?: number;
  readonly usedAt: number;
}

export interface VerifiedSession {
  readonly kind: 'user';
  /** Of the user; the session has its own. */
  readonly id: string;
  readonly sessionId: string;
  readonly name: string;
  readonly role: Role;
  readonly endsAt: number;
  readonly usedAt: number;
}

export type VerifiedCredential = VerifiedKey | VerifiedSession;
