import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { IncidentsModule } from '../../incidents/incidents.module.js';
import { KillSwitchModule } from '../../kill-switch/kill-switch.module.js';
import { ActionsModule } from '../actions.module.js';
import { ApprovalLevelGuard } from './approval-level.guard.js';
import { ApprovalsController, RollbackController } from './approvals.controller.js';
import { ApprovalsService } from './approvals.service.js';
import { WaitingApprovals } from './waiting-approvals.js';

@Module({
  imports: [ActionsModule, AuthModule, IncidentsModule, KillSwitchModule],
  controllers: [ApprovalsController, RollbackController],
  providers: [ApprovalLevelGuard, ApprovalsService, WaitingApprovals],
})
export class ApprovalsModule {}
