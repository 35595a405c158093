import { type ApprovalLevel, levelReaches } from '../../platform/access/roles.js';
import type {
  ProtectedTargets,
  Target,
} from '../../action-catalogue/protected-targets/protected-targets.js';
import {
  type ActionType,
  actionType,
  type ActionTypeName,
} from '../../action-catalogue/action-types.js';

/** What a site decides in its settings, on top of the catalogue. */
export interface SitePolicy {
  readonly levels: Readonly<Partial<Record<ActionTypeName, ApprovalLevel>>>;
  readonly raiseOnCritical: boolean;
  readonly protectedTargets: ProtectedTargets;
}

export interface PolicyQuestion {
  readonly type: ActionTypeName;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly incidentSeverity?: string;
  /** A level that a playbook step asks for: it can raise, never lower. */
  readonly askedLevel?: ApprovalLevel;
}

const RAISED: Readonly<Record<ApprovalLevel, ApprovalLevel>> = {
  none: 'none',
  analyst: 'senior',
  senior: 'manager',
  manager: 'manager',
};

export function higherLevel(a: ApprovalLevel, b: ApprovalLevel): ApprovalLevel {
  return levelReaches(a, b) ? a : b;
}

/** The level that the type needs on this site where neither the incident nor the target asks for more. */
export function levelByDefault(levels: SitePolicy['levels'], type: ActionType): ApprovalLevel {
  return levels[type.name] ?? type.defaultLevel ?? 'none';
}

/** The level that must approve the action before it runs; `none` when it runs at once. */
export function requiredLevel(site: SitePolicy, question: PolicyQuestion): ApprovalLevel {
  const type = actionType(question.type);
  let level = levelByDefault(site.levels, type);
  if (site.raiseOnCritical && question.incidentSeverity === 'critical') level = RAISED[level];
  const target = targetOf(type, question.parameters);
  if (target && site.protectedTargets.protects(target)) level = 'manager';
  return higherLevel(level, question.askedLevel ?? 'none');
}

function targetOf(
  type: ActionType,
  parameters: Readonly<Record<string, unknown>>,
): Target | undefined {
  if (!type.target) return undefined;
  const value = parameters[type.target.parameter];
  return typeof value === 'string' ? { kind: type.target.kind, value } : undefined;
}
