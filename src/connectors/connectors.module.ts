import { Module } from '@nestjs/common';
import { SealedConfig } from './config/sealed-config.js';
import { ConfiguredConnectors } from './configured-connectors.js';
import { ConnectorRegistry } from './connector.port.js';
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
    ConfiguredConnectors,
    { provide: ConnectorRegistry, useExisting: ConfiguredConnectors },
    ConnectorChecks,
    ConnectorSignals,
    DefaultSandbox,
  ],
  exports: [ConnectorRegistry],
})
export class ConnectorsModule {}
