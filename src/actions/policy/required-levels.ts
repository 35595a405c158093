import { Injectable } from '@nestjs/common';
import { actionType } from '../../action-catalogue/action-types.js';
import { type ApprovalLevel, levelReaches } from '../../platform/access/roles.js';
import { ProtectedTargets } from '../../action-catalogue/protected-targets/protected-targets.js';
import { Settings } from '../../platform/config/settings.js';
import type { Severity } from '../../incidents/incident.js';
import type { Action } from '../action.js';
import {
  higherLevel,
  type PolicyQuestion,
  requiredLevel,
  type SitePolicy,
} from './approval-policy.js';

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

  /**
   * Whether an action may go to a target that its vendor knows by this name. Its parameters, which may name the vendor's own id
   * instead, were judged when it was requested. A target without a name may be any.
   */
  mayTarget({ type, parameters, approvalLevel }: Action, name = '*'): boolean {
    const { target } = actionType(type);
    if (!target) return true;
    const had = higherLevel(approvalLevel ?? 'none', this.forRequest({ type, parameters }));
    const found = { ...parameters, [target.parameter]: name };
    return levelReaches(had, this.forRequest({ type, parameters: found }));
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
      type: action.type,
      parameters: action.parameters,
      incidentSeverity: severity,
    });
    return higherLevel(action.approvalLevel ?? 'none', judged);
  }
}
