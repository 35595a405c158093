import { Injectable } from '@nestjs/common';
import { type Principal, requireApprovalLevel } from '../../auth/principal.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import type { Action } from '../action.js';
import { RequiredLevels } from '../required-levels.js';

/** Rejects a caller whose level is too low. Call after the action is locked, because its level can rise before. */
@Injectable()
export class ApprovalLevelGuard {
  constructor(private readonly levels: RequiredLevels) {}

  requireForApproval(caller: Principal, action: Action): ApprovalLevel {
    const level = this.levels.forRequest(action);
    requireApprovalLevel(caller, level);
    return level;
  }

  requireForRejection(caller: Principal, { approval_level }: Action): void {
    requireApprovalLevel(caller, approval_level ?? 'none');
  }
}
