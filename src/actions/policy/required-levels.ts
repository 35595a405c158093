import { Injectable } from '@nestjs/common';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { ProtectedTargets } from '../catalogue/protected-targets/protected-targets.js';
import { Settings } from '../../platform/config/settings.js';
import type { Severity } from '../../incidents/incident.js';
import type { Action } from '../action.js';
import {
  higherLevel,
  type PolicyQuestion,
  requiredLevel,
  type SitePolicy,
} from './approval-policy.js';

/** The levels that this site asks for. */
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

  /** What an action has to be approved at when it is requested; `none` when it runs at once. */
  forRequest(question: PolicyQuestion): ApprovalLevel {
    return requiredLevel(this.policy, question);
  }

  /**
   * What an action that waits has to be approved at now: its incident may have become critical since it was requested, or
   * the site may ask for more. The higher level counts, so that nobody waits for the lower one.
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
