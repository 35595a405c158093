import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { PlaybooksController } from './playbooks.controller.js';
import { PlaybooksService } from './playbooks.service.js';
import { RunRecorder } from './runs/run-records.js';
import { RunWork } from './runs/run.work.js';
import { PlaybookRunsController } from './runs/runs.controller.js';
import { RunsRepository } from './runs/runs.repository.js';
import { RunsService } from './runs/runs.service.js';

@Module({
  imports: [AuthModule, IncidentsModule, KillSwitchModule, ConnectorsModule, ActionsModule],
  controllers: [PlaybooksController, PlaybookRunsController],
  providers: [PlaybooksService, RunRecorder, RunsRepository, RunsService, RunWork],
  exports: [PlaybooksService],
})
export class PlaybooksModule {}
