import { Injectable } from '@nestjs/common';
import type { LockedAction } from './action-decisions.js';
import { RequiredLevels } from './required-levels.js';
import { requireApprovalLevel } from '../auth/authorisation.js';
import type { Principal } from '../auth/principal.js';
import type { ApprovalLevel } from '../platform/access/roles.js';

/**
 * Rejects a caller whose level is too low for a decision. It checks under the lock of the decision, because the level of an
 * action can rise until then.
 */
@Injectable()
export class ApprovalLevelGuard {
  constructor(private readonly levels: RequiredLevels) {}

  /** Returns the level that the action needs now. */
  requireForApproval(caller: Principal, { action, incident }: LockedAction): ApprovalLevel {
    const level = this.levels.forDecision(action, incident);
    requireApprovalLevel(caller, level);
    return level;
  }

  requireForRejection(caller: Principal, { action }: LockedAction): void {
    requireApprovalLevel(caller, action.approval_level ?? 'none');
  }
}
