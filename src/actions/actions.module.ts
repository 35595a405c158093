import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { RequiredLevels } from './required-levels.js';
import { ActionRecorder } from './action-records.js';
import { Actions } from './actions.js';
import { ActionRequests } from './action-requests.js';
import { DuplicateActions } from './duplicate-actions.js';
import { ActionsController } from './actions.controller.js';
import { ActionEndings } from './execution/action-endings.js';
import { ActionWork } from './execution/action-work.js';
import { ConnectorCalls } from './execution/connector-calls.js';

@Module({
  imports: [AuthModule, IncidentsModule, KillSwitchModule, ConnectorsModule],
  controllers: [ActionsController],
  providers: [
    ActionEndings,
    RequiredLevels,
    ActionRecorder,
    ActionRequests,
    ActionWork,
    Actions,
    ConnectorCalls,
    DuplicateActions,
  ],
  exports: [
    ActionEndings,
    ActionRecorder,
    ActionRequests,
    Actions,
    ActionWork,
    ConnectorCalls,
    RequiredLevels,
  ],
})
export class ActionsModule {}
