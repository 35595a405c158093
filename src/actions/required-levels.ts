import { Injectable } from '@nestjs/common';
import { type ActionType, actionType } from '../action-catalogue/action-types.js';
import { type Protection, protectionBy } from '../action-catalogue/protected-targets.js';
import type { Severity } from '../incidents/incident.js';
import { type ApprovalLevel, levelReaches } from '../platform/access/roles.js';
import { Settings } from '../platform/config/settings.js';
import type { Action } from './action.js';

interface LevelQuestion extends Pick<Action, 'action_type' | 'parameters'> {
  readonly incident?: { readonly severity: Severity };
  /** Level of the playbook step, or level when the action was requested. It can only raise the required level. */
  readonly approval_level?: ApprovalLevel;
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

@Injectable()
export class RequiredLevels {
  private readonly protection: Protection;

  constructor(private readonly settings: Settings) {
    this.protection = protectionBy(settings.protectedTargets);
  }

  byDefault({ name, level }: ActionType): ApprovalLevel {
    return this.settings.approvalLevels[name] ?? level;
  }

  /** The decision checks the level again, because the incident or the settings may require a higher level by then. */
  forRequest(question: LevelQuestion): ApprovalLevel {
    const level = this.byDefault(actionType(question.action_type));
    const raised = this.isRaised(question) ? RAISED[level] : level;
    const judged = this.protectedTarget(question) === undefined ? raised : 'manager';
    return higherLevel(judged, question.approval_level ?? 'none');
  }

  /** Returns the reason why the action needs more than the default level of its type; otherwise `undefined`. */
  reasonFor(action: Action): string | undefined {
    const target = this.protectedTarget(action);
    if (target !== undefined) return `${target} is a protected target`;
    const isRaised =
      this.isRaised(action) && this.byDefault(actionType(action.action_type)) !== 'none';
    return isRaised ? 'the incident is critical' : undefined;
  }

  /** Checks the name from the vendor, because parameters may contain an id. A missing name may be any target. */
  mayTarget({ action_type, parameters, approval_level }: Action, name = '*'): boolean {
    const { target } = actionType(action_type);
    if (!target) return true;
    const had = this.forRequest({ action_type, parameters, approval_level });
    const found = { ...parameters, [target.parameter]: name };
    return levelReaches(had, this.forRequest({ action_type, parameters: found }));
  }

  private isRaised({ incident }: Pick<LevelQuestion, 'incident'>): boolean {
    return this.settings.approvalRaiseOnCritical && incident?.severity === 'critical';
  }

  private protectedTarget({ action_type, parameters }: LevelQuestion): string | undefined {
    const { target } = actionType(action_type);
    const value = target && parameters[target.parameter];
    if (!target || typeof value !== 'string') return undefined;
    return this.protection[target.kind](value) ? value : undefined;
  }
}
