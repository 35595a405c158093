import { type ApprovalLevel, levelReaches } from '../platform/access/roles.js';
import { ProtectedTargets, type Target } from '../action-catalogue/protected-targets.js';
import {
  type ActionType,
  actionType,
  type ActionTypeName,
} from '../action-catalogue/action-types.js';
import { Injectable } from '@nestjs/common';
import { Settings } from '../platform/config/settings.js';
import type { Severity } from '../incidents/incident.js';
import type { Action } from './action.js';
/** What a site decides in its settings, on top of the catalogue. */
export interface SitePolicy {
  readonly levels: Readonly<Partial<Record<ActionTypeName, ApprovalLevel>>>;
  readonly raiseOnCritical: boolean;
  readonly protectedTargets: ProtectedTargets;
}

interface PolicyQuestion {
  readonly action_type: ActionTypeName;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly incidentSeverity?: string;
  /** Minimum level of the playbook step. It can raise the level, and never lowers it. */
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
  const type = actionType(question.action_type);
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

/** The level at which an action has to be approved on this site: the approval policy with the settings of the site. */
@Injectable()
export class RequiredLevels {
  private readonly policy: SitePolicy;

  constructor(settings: Settings) {
    this.policy = {
      levels: settings.approvalLevels,
      raiseOnCritical: settings.approvalRaiseOnCritical,
      protectedTargets: new ProtectedTargets(settings.protectedTargets),
    };
  }

  /** The level that an action needs when it is requested; `none` when it runs at once. */
  forRequest(question: PolicyQuestion): ApprovalLevel {
    return requiredLevel(this.policy, question);
  }

  /** Why an action needs more than its type does; undefined when it does not. */
  reasonFor({ action_type, parameters, incident }: Action): string | undefined {
    const target = targetOf(actionType(action_type), parameters);
    if (target && this.policy.protectedTargets.protects(target)) {
      return `${target.value} is a protected target`;
    }
    const isRaised =
      this.policy.raiseOnCritical &&
      incident?.severity === 'critical' &&
      levelByDefault(this.policy.levels, actionType(action_type)) !== 'none';
    return isRaised ? 'the incident is critical' : undefined;
  }

  /**
   * Whether an action may go to a target that its vendor knows by this name. Its parameters, which may name the vendor's own id
   * instead, were judged when it was requested. A target without a name may be any.
   */
  mayTarget({ action_type, parameters, approval_level }: Action, name = '*'): boolean {
    const { target } = actionType(action_type);
    if (!target) return true;
    const had = higherLevel(approval_level ?? 'none', this.forRequest({ action_type, parameters }));
    const found = { ...parameters, [target.parameter]: name };
    return levelReaches(had, this.forRequest({ action_type, parameters: found }));
  }

  /**
   * The level that an action needs when it is decided on: its incident may have become critical since it was requested, or
   * the site may ask for more by now. It never falls below what it needed when it was requested.
   */
  forDecision(
    action: Action,
    severity: Severity | undefined = action.incident?.severity,
  ): ApprovalLevel {
    const judged = this.forRequest({
      action_type: action.action_type,
      parameters: action.parameters,
      incidentSeverity: severity,
    });
    return higherLevel(action.approval_level ?? 'none', judged);
  }
}
