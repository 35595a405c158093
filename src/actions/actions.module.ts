import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { RequiredLevels } from './required-levels.js';
import { ActionRecorder } from './action-records.js';
import { ActionRecordsRepository, ActionsRepository } from './actions.repository.js';
import { ActionPreviews } from './action-previews.js';
import { ActionRequests, ActionCreation } from './action-requests.js';
import { Twins } from './action-twins.js';
import {
  ActionFeedController,
  ActionsController,
  IncidentActionsController,
} from './actions.controller.js';
import { ActionFeed, ActionsService } from './actions.service.js';
import { ActionDecisions, ActionWithdrawal } from './action-decisions.js';
import { ActionConnectors, ConnectorPlaces } from './execution/action-connectors.js';
import { ActionEndings, Claims, Failpoints } from './execution/claims.js';
import { ActionExecutor } from './execution/action-executor.js';
import { ActionRecovery, LapsedClaims, UnclaimedActions } from './execution/action-recovery.js';
import { AwaitedRuns } from './execution/awaited-runs.js';
import { ClaimRepository } from './execution/claim.repository.js';
import { ActionCounts, ActionListRepository } from './listing/action-list.repository.js';
import { RollbackService } from './rollback.service.js';

/**
 * The rooms: `catalogue` says which actions there are, and `policy` who must approve them. `requests` creates actions,
 * decides on them and rolls them back. `execution` runs them. `records` holds the row of an action, its repository, and what
 * is recorded of each change. `listing` has the lists and their totals, `feed` every change
 * of actions.
 */
@Module({
  imports: [AuthModule, IncidentsModule, KillSwitchModule, ConnectorsModule],
  controllers: [ActionsController, ActionFeedController, IncidentActionsController],
  providers: [
    ActionConnectors,
    ActionCounts,
    ActionCreation,
    ActionEndings,
    ActionExecutor,
    ActionFeed,
    RequiredLevels,
    ActionListRepository,
    ActionPreviews,
    ActionRecorder,
    ActionRecordsRepository,
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
    ActionWithdrawal,
    LapsedClaims,
    RollbackService,
    Twins,
    UnclaimedActions,
  ],
  exports: [
    ActionConnectors,
    RequiredLevels,
    ActionRequests,
    AwaitedRuns,
    ActionsService,
    ActionDecisions,
    ActionWithdrawal,
    ConnectorPlaces,
    Failpoints,
  ],
})
export class ActionsModule {}
