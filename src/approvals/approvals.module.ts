import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { ApprovalLevelGuard } from './approval-level.guard.js';
import { ApprovalExpiry, ApprovalsService } from './approvals.service.js';
import { ApprovalsController } from './approvals.controller.js';

@Module({
  imports: [ActionsModule],
  controllers: [ApprovalsController],
  providers: [ApprovalExpiry, ApprovalLevelGuard, ApprovalsService],
})
export class ApprovalsModule {}
