import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { chosenProvider, Settings } from '../platform/config/settings.js';
import { OutboundHttp } from '../platform/net/outbound-http.js';
import { PlaybooksModule } from '../playbooks/playbooks.module.js';
import { IncidentTriageController } from './incident-triage.controller.js';
import { RulesModel } from './model/rules/rules-model.js';
import { NoModel, TriageModel } from './model/triage-model.port.js';
import { TriageRunsRepository } from './triage-runs.repository.js';
import { TriageWork } from './runs/triage-work.js';
import { ProviderState } from './runs/provider-state.js';
import { RunEndings } from './runs/run-endings.js';
import { TriageJudging } from './runs/triage-judging.js';
import { TriageService } from './triage.service.js';

async function modelOf(settings: Settings, http: OutboundHttp): Promise<TriageModel> {
  const provider = chosenProvider(settings);
  if (provider === 'none') return new NoModel();
  if (provider === 'rules') return new RulesModel();
  const { AnthropicModel } = await import('./model/anthropic/anthropic-model.js');
  return new AnthropicModel(settings, http);
}

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
    { provide: TriageModel, inject: [Settings, OutboundHttp], useFactory: modelOf },
    ProviderState,
    RunEndings,
    TriageJudging,
    TriageRunsRepository,
    TriageService,
    TriageWork,
  ],
})
export class TriageModule {}
