import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { RequiredLevels } from './policy/required-levels.js';
import { ActionRecorder } from './records/action-recorder.js';
import { ActionRecordsRepository } from './records/action-records.repository.js';
import { ActionRequests } from './requests/action-requests.js';
import { ActionCreation } from './requests/action-creation.js';
import { JointRequests } from './requests/joint-requests.js';
import { JointRequestsRepository } from './requests/joint-requests.repository.js';
import { Twins } from './requests/twins.js';
import { ActionsRepository } from './records/actions.repository.js';
import { ActionsController } from './actions.controller.js';
import { ActionsService } from './actions.service.js';
import { ActionDecisions } from './requests/action-decisions.js';
import { ActionConnectors } from './execution/action-connectors.js';
import { ActionEndings } from './execution/action-endings.js';
import { ActionEndingsRepository } from './execution/action-endings.repository.js';
import { ActionExecutor } from './execution/action-executor.js';
import { ActionRecovery } from './execution/action-recovery.js';
import { AwaitedRuns } from './execution/awaited-runs.js';
import { ClaimRepository } from './execution/claim.repository.js';
import { Claims } from './execution/claims.js';
import { ConnectorPlaces } from './execution/connector-places.js';
import { Failpoints } from './execution/failpoints.js';
import { LapsedClaims } from './execution/lapsed-claims.js';
import { UnclaimedActions } from './execution/unclaimed-actions.js';
import { Askers } from './requests/askers.js';
import { ActionWithdrawal } from './requests/action-withdrawal.js';
import { IncidentActionsController } from './incident-actions.controller.js';
import { ActionCounts } from './listing/action-counts.js';
import { ActionListRepository } from './listing/action-list.repository.js';
import { RollbackService } from './requests/rollback.service.js';

/**
 * The rooms: `catalogue` says which actions there are, and `policy` who must approve them. `requests` creates actions,
 * decides on them and rolls them back. `execution` runs them. `records` holds the row of an action, its repository, and what
 * is recorded of each change. `listing` has the lists and their totals.
 */
@Module({
  imports: [AuthModule, IncidentsModule, KillSwitchModule, ConnectorsModule],
  controllers: [ActionsController, IncidentActionsController],
  providers: [
    ActionConnectors,
    ActionCounts,
    ActionCreation,
    ActionEndings,
    ActionEndingsRepository,
    ActionExecutor,
    RequiredLevels,
    ActionListRepository,
    ActionRecorder,
    ActionRecordsRepository,
    ActionRecovery,
    ActionRequests,
    Askers,
    AwaitedRuns,
    ActionsService,
    ActionsRepository,
    ClaimRepository,
    Claims,
    ConnectorPlaces,
    ActionDecisions,
    Failpoints,
    JointRequests,
    JointRequestsRepository,
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
    Askers,
    AwaitedRuns,
    ActionsService,
    ActionDecisions,
    ActionWithdrawal,
    ConnectorPlaces,
    Failpoints,
  ],
})
export class ActionsModule {}
