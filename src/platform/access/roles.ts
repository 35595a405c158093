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
