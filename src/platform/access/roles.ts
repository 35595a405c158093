/** What a principal may do, from least to most: each role may do what those before it may. */
export const ROLES = ['viewer', 'analyst', 'senior', 'manager', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** How far a principal may approve, and what an action needs. */
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

/** What is enough for all of them; where nothing is required, the lowest role. */
export function highestRole(required: readonly (Role | undefined)[]): Role {
  return ROLES.findLast((role) => required.includes(role)) ?? ROLES[0];
}

/*
 * The same order for statements. The arguments are SQL: a column, a parameter, a subquery in brackets.
 */

const ORDER = `array[${ROLES.map((role) => `'${role}'`).join()}]`;
const rankSql = (role: string): string => `array_position(${ORDER}, ${role})`;

/** What `roleReaches` says. Not true, as SQL has it, when either is null. */
export function roleReachesSql(role: string, required: string): string {
  return `${rankSql(role)} >= ${rankSql(required)}`;
}

/** The lower of two roles; when one of them is null, the other. */
export function lowerRoleSql(one: string, other: string): string {
  return `(${ORDER})[least(${rankSql(one)}, ${rankSql(other)})]`;
}
