import {
  type ApprovalLevel,
  approvalLevelOf,
  levelReaches,
  type Role,
  roleReaches,
} from '../platform/access/roles.js';
import { InsufficientApprovalLevelError, RoleTooLowError } from './auth.errors.js';
import type { Principal } from './principal.js';

/*
 * What a caller may do follows from its role alone, by the order in platform/access/roles.ts. Guards ask before a
 * request costs anything; transactions ask again, by the role that the caller has at that moment. A refusal is thrown,
 * and RefusalFilter writes it into the audit trail, wherever it was found.
 */

type Caller = Pick<Principal, 'name' | 'role'>;

export function requireRole(caller: Caller, required: Role): void {
  if (!roleReaches(caller.role, required)) throw new RoleTooLowError(caller, required);
}

export function requireApprovalLevel(caller: Caller, required: ApprovalLevel): void {
  const own = approvalLevelOf(caller.role);
  if (!levelReaches(own, required)) throw new InsufficientApprovalLevelError(caller, own, required);
}
