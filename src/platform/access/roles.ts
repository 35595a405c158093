/** Roles in ascending order. Each role includes the permissions of the roles before it. */
export const ROLES = ['viewer', 'analyst', 'senior', 'manager', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Approval levels in ascending order. A principal has a level, and an action requires a level. */
export const APPROVAL_LEVELS = ['none', 'analyst', 'senior', 'manager'] as const;
export type ApprovalLevel = (typeof APPROVAL_LEVELS)[number];

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

/** Returns the lowest role that satisfies all of `required`, or the lowest role if nothing is required. */
export function highestRole(required: readonly (Role | undefined)[]): Role {
  return ROLES.findLast((role) => required.includes(role)) ?? ROLES[0];
}

/* Role order as an SQL array. The functions below take a column, a parameter or a subquery in parentheses. */

const ORDER = `array[${ROLES.map((role) => `'${role}'`).join()}]`;
const rankSql = (role: string): string => `array_position(${ORDER}, ${role})`;

export function roleReachesSql(role: string, required: string): string {
  return `${rankSql(role)} >= ${rankSql(required)}`;
}

/** SQL expression for the lower of two roles. Ignores a role that is null. */
export function lowerRoleSql(one: string, other: string): string {
  return `(${ORDER})[least(${rankSql(one)}, ${rankSql(other)})]`;
}
