import type { Caller } from '../common/caller.js';
import { ROLES, type Role } from '../common/access.js';

/** How far a principal may approve; derived from the role. */
export const APPROVAL_LEVELS = ['none', 'analyst', 'senior', 'manager'] as const;
export type ApprovalLevel = (typeof APPROVAL_LEVELS)[number];

export interface Principal extends Caller {
  readonly kind: 'key' | 'user';
  readonly id: string;
  readonly role: Role;
  /** The user behind it: of a key the one who made it, through however many keys. A key that is nobody's stands for itself. */
  readonly person: string;
  /** The id of that user; a key that is nobody's has none. */
  readonly personId?: string;
  /** The session of a user who came with a cookie; a key has none. */
  readonly sessionId?: string;
}

export function approvalLevelOf(role: Role): ApprovalLevel {
  if (role === 'viewer') return 'none';
  return role === 'admin' ? 'manager' : role;
}

export function roleReaches(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required);
}

export function levelReaches(level: ApprovalLevel, required: ApprovalLevel): boolean {
  return APPROVAL_LEVELS.indexOf(level) >= APPROVAL_LEVELS.indexOf(required);
}
