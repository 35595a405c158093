import { Module } from '@nestjs/common';
import { CrowdstrikeFalconType } from './adapters/crowdstrike-falcon/crowdstrike-falcon.connector.js';
import { HttpType } from './adapters/http/http.connector.js';
import { JiraType } from './adapters/jira/jira.type.js';
import { MicrosoftDefenderType } from './adapters/microsoft-defender/microsoft-defender.connector.js';
import { MicrosoftGraphType } from './adapters/microsoft-graph/microsoft-graph.connector.js';
import { OktaType } from './adapters/okta/okta.connector.js';
import { SandboxType } from './adapters/sandbox/sandbox.connector.js';
import { SlackType } from './adapters/slack/slack.connector.js';
import { SmtpType } from './adapters/smtp/smtp.connector.js';
import { VirusTotalType } from './adapters/virustotal/virustotal.connector.js';
import { SealedConfig } from './config/sealed-config.js';
import { ConfiguredConnectors } from './configured-connectors.js';
import { ConnectorRegistry } from './connector-registry.js';
import { ConnectorTypes } from './connector-types.js';
import { ConnectorsController } from './connectors.controller.js';
import { ConnectorsRepository } from './connectors.repository.js';
import { ConnectorsService } from './connectors.service.js';
import { ConnectorChecks } from './health/connector-checks.js';
import { ConnectorHealthController } from './health/connector-health.controller.js';
import { ConnectorSignals } from './health/connector-signals.js';
import { DefaultSandbox } from './default-sandbox.js';

@Module({
  controllers: [ConnectorHealthController, ConnectorsController],
  providers: [
    CrowdstrikeFalconType,
    HttpType,
    JiraType,
    MicrosoftDefenderType,
    MicrosoftGraphType,
    OktaType,
    SlackType,
    SmtpType,
    VirusTotalType,
    SandboxType,
    ConnectorTypes,
    SealedConfig,
    ConnectorsRepository,
    ConnectorsService,
    ConfiguredConnectors,
    { provide: ConnectorRegistry, useExisting: ConfiguredConnectors },
    ConnectorChecks,
    ConnectorSignals,
    DefaultSandbox,
  ],
  exports: [ConnectorRegistry],
})
export class ConnectorsModule {}
