import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { RequiredLevels } from './required-levels.js';
import { ActionRecorder } from './action-records.js';
import { ActionsRepository } from './actions.repository.js';
import { ActionPreviews } from './action-previews.js';
import { ActionRequests, ActionCreation } from './action-requests.js';
import { DuplicateActions } from './duplicate-actions.js';
import { ActionsController } from './actions.controller.js';
import { ActionsService, RollbackService } from './actions.service.js';
import { ActionDecisions } from './action-decisions.js';
import { ActionConnectors, ConnectorPlaces } from './execution/action-connectors.js';
import { ActionEndings, Claims, Failpoints } from './execution/claims.js';
import { ActionExecutor } from './execution/action-executor.js';
import { ActionRecovery, LapsedClaims, UnclaimedActions } from './execution/action-recovery.js';
import { AwaitedRuns } from './execution/awaited-runs.js';
import { ClaimRepository } from './execution/claim.repository.js';
import { ActionCounts, ActionListRepository } from './action-list.js';

/** Requests, decisions, rollbacks and lists of actions. `execution/` runs them. */
@Module({
  imports: [AuthModule, IncidentsModule, KillSwitchModule, ConnectorsModule],
  controllers: [ActionsController],
  providers: [
    ActionConnectors,
    ActionCounts,
    ActionCreation,
    ActionEndings,
    ActionExecutor,
    RequiredLevels,
    ActionListRepository,
    ActionPreviews,
    ActionRecorder,
    ActionRecovery,
    ActionRequests,
    AwaitedRuns,
    ActionsService,
    ActionsRepository,
    ClaimRepository,
    Claims,
    ConnectorPlaces,
    ActionDecisions,
    Failpoints,
    LapsedClaims,
    RollbackService,
    DuplicateActions,
    UnclaimedActions,
  ],
  exports: [
    ActionConnectors,
    ActionDecisions,
    ActionRequests,
    ActionsService,
    AwaitedRuns,
    RequiredLevels,
  ],
})
export class ActionsModule {}
