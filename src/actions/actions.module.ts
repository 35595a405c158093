import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { RequiredLevels } from './required-levels.js';
import { ActionRecorder } from './action-records.js';
import { ActionsRepository } from './actions.repository.js';
import { ActionPreviews } from './action-previews.js';
import { ActionRequests } from './action-requests.js';
import { DuplicateActions } from './duplicate-actions.js';
import { ActionsController, ApprovalsController } from './actions.controller.js';
import { ActionsService } from './actions.service.js';
import { ActionWithdrawals } from './action-withdrawals.js';
import { ApprovalExpiry } from './approval-expiry.js';
import { ApprovalLevelGuard } from './approval-level.guard.js';
import { ActionDecisions } from './action-decisions.js';
import { ActionEndings } from './execution/action-endings.js';
import { ActionWork } from './execution/action-work.js';
import { ActionConnectors, ConnectorCalls } from './execution/connector-calls.js';

/** Requests, approvals, rollbacks and lists of actions. `execution/` runs them. */
@Module({
  imports: [AuthModule, IncidentsModule, KillSwitchModule, ConnectorsModule],
  controllers: [ActionsController, ApprovalsController],
  providers: [
    ActionConnectors,
    ApprovalExpiry,
    ApprovalLevelGuard,
    ActionEndings,
    RequiredLevels,
    ActionPreviews,
    ActionRecorder,
    ActionRequests,
    ActionWithdrawals,
    ActionWork,
    ActionsService,
    ActionsRepository,
    ConnectorCalls,
    ActionDecisions,
    DuplicateActions,
  ],
  exports: [ActionRequests, ActionWithdrawals, ActionsService, RequiredLevels],
})
export class ActionsModule {}
