import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { PlaybooksController } from './playbooks.controller.js';
import { PlaybooksRepository } from './playbooks.repository.js';
import { PlaybooksService } from './playbooks.service.js';
import { AutoRuns } from './runs/auto-runs.js';
import { DryRuns } from './runs/dry-run.js';
import { PlaybookRunCounts, RunListRepository } from './runs/listing/run-list.repository.js';
import { PlaybookRunner } from './runs/playbook-runner.js';
import {
  AllPlaybookRunsController,
  PlaybookRunsController,
} from './runs/playbook-runs.controller.js';
import { PlaybookRunsService } from './runs/playbook-runs.service.js';
import { PlaybookRunsRepository } from './runs/records/playbook-runs.repository.js';
import { RunRecorder } from './runs/records/run-recorder.js';
import { RunWritesRepository } from './runs/records/run-writes.repository.js';
import { RunCancellation } from './runs/run-cancellation.js';
import { RunMoves } from './runs/run-moves.js';
import { RunQueue } from './runs/run-queue.js';
import { RunRequests } from './runs/run-requests.js';
import { RunSignals } from './runs/run-signals.js';
import { StepDecisions } from './runs/step-decisions.js';
import { UndoneSteps } from './runs/undone-steps.js';

@Module({
  imports: [AuthModule, IncidentsModule, KillSwitchModule, ConnectorsModule, ActionsModule],
  controllers: [PlaybooksController, PlaybookRunsController, AllPlaybookRunsController],
  providers: [
    AutoRuns,
    DryRuns,
    PlaybookRunCounts,
    PlaybookRunner,
    PlaybookRunsRepository,
    PlaybookRunsService,
    PlaybooksRepository,
    PlaybooksService,
    RunCancellation,
    RunListRepository,
    RunMoves,
    RunQueue,
    RunRecorder,
    RunRequests,
    RunSignals,
    RunWritesRepository,
    StepDecisions,
    UndoneSteps,
  ],
  exports: [PlaybooksService],
})
export class PlaybooksModule {}
