import {
  type ApprovalLevel,
  approvalLevelOf,
  levelReaches,
  type Role,
  roleReaches,
  ROLES,
} from '../platform/access/roles.js';
import { CallerRefusedError } from './auth.errors.js';
import type { Principal } from './principal.js';

/*
 * The permissions of a caller depend on the role only; platform/access/roles.ts defines the order of roles. Guards
 * check permissions before a request costs anything. Transactions check them again with the role at that time.
 * RefusalFilter records each refusal in the audit trail.
 */

type Caller = Pick<Principal, 'name' | 'role'>;

export function requireRole({ name, role }: Caller, required: Role): void {
  if (roleReaches(role, required)) return;
  const details = { role, required_role: required };
  throw new CallerRefusedError(
    { action: 'auth.role_refused', actor: name, details },
    'forbidden',
    `Only ${inWords(ROLES.slice(ROLES.indexOf(required)))} may do this.`,
    { details: { required_role: required } },
  );
}

/** `an analyst, a senior, a manager or an admin` */
function inWords(roles: readonly Role[]): string {
  const named = roles.map((role) => `${role.startsWith('a') ? 'an' : 'a'} ${role}`);
  return named.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

export function requireApprovalLevel({ name, role }: Caller, required: ApprovalLevel): void {
  const own = approvalLevelOf(role);
  if (levelReaches(own, required)) return;
  throw new CallerRefusedError(
    { action: 'auth.level_refused', actor: name, details: { role, required_level: required } },
    'insufficient_approval_level',
    `This needs approval level ${required}; yours is ${own}.`,
    { fields: { required_level: required, your_level: own } },
  );
}
