import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { Settings } from '../platform/config/settings.js';
import { OutboundHttp } from '../platform/net/outbound-http.js';
import { PlaybooksModule } from '../playbooks/playbooks.module.js';
import { IncidentTriageController } from './incident-triage.controller.js';
import { modelOfSettings } from './model/model-of-settings.js';
import { TriageModel } from './model/triage-model.port.js';
import { IncidentIndicatorsRepository } from './records/incident-indicators.repository.js';
import { RunClaimsRepository } from './records/run-claims.repository.js';
import { RunRecorder } from './records/run-recorder.js';
import { TriageRunsRepository } from './records/triage-runs.repository.js';
import { AutoTriage } from './runs/auto-triage.js';
import { RunClaims, RunPermits } from './runs/run-claims.js';
import { RunEndings } from './runs/run-endings.js';
import { RunObstacles, TokenBudget } from './runs/run-obstacles.js';
import { RunQueue } from './runs/run-queue.js';
import { RunRequests } from './runs/run-requests.js';
import { TriageJudging } from './runs/triage-judging.js';
import { TriageRunner } from './runs/triage-runner.js';
import { TriageSignals } from './signals/triage-signals.js';
import { ConnectorLookups } from './tools/connector-lookups.js';
import { RelatedIncidents } from './tools/related-incidents.js';
import { TriageTools } from './tools/triage-tools.js';
import { TriageGuidance } from './triage-guidance.js';
import { TriageService } from './triage.service.js';

/**
 * The rooms: `model` asks a provider, with `prompts`; `evidence` checks what it says against the data; `tools` are the
 * questions that it may ask. `runs` creates, claims, carries out and ends runs, `records` holds their rows and what is
 * told of them, `signals` health and metrics.
 */
@Module({
  imports: [
    AuthModule,
    IncidentsModule,
    KillSwitchModule,
    ConnectorsModule,
    ActionsModule,
    PlaybooksModule,
  ],
  controllers: [IncidentTriageController],
  providers: [
    { provide: TriageModel, inject: [Settings, OutboundHttp], useFactory: modelOfSettings },
    AutoTriage,
    ConnectorLookups,
    IncidentIndicatorsRepository,
    RelatedIncidents,
    RunClaims,
    RunClaimsRepository,
    RunEndings,
    RunObstacles,
    RunPermits,
    RunQueue,
    RunRecorder,
    RunRequests,
    TokenBudget,
    TriageGuidance,
    TriageJudging,
    TriageRunner,
    TriageRunsRepository,
    TriageService,
    TriageSignals,
    TriageTools,
  ],
})
export class TriageModule {}
