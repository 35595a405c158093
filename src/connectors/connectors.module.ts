import { Module } from '@nestjs/common';
import { SealedConfig } from '../targets/target-secrets.js';
import { ConnectorRegistry } from './connector-registry.js';
import { CONNECTOR_TYPE_PROVIDERS } from './connector-types.js';
import { ConnectorsController } from './connectors.controller.js';
import { ConnectorsRepository } from './connectors.repository.js';
import { ConnectorsService, DefaultSandbox } from './connectors.service.js';
import { ConnectorChecks, ConnectorSignals } from './health/connector-checks.js';
import { ConnectorHealthController } from './health/connector-health.controller.js';

@Module({
  controllers: [ConnectorHealthController, ConnectorsController],
  providers: [
    ...CONNECTOR_TYPE_PROVIDERS,
    SealedConfig,
    ConnectorsRepository,
    ConnectorsService,
    ConnectorRegistry,
    ConnectorChecks,
    ConnectorSignals,
    DefaultSandbox,
  ],
  exports: [ConnectorRegistry],
})
export class ConnectorsModule {}
