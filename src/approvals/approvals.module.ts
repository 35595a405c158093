import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { ApprovalLevelGuard } from './approval-level.guard.js';
import { ApprovalExpiry, ApprovalsService } from './approvals.service.js';
import { ApprovalsController } from './approvals.controller.js';

@Module({
  imports: [ActionsModule, AuthModule, ConnectorsModule, KillSwitchModule],
  controllers: [ApprovalsController],
  providers: [ApprovalExpiry, ApprovalLevelGuard, ApprovalsService],
})
export class ApprovalsModule {}
