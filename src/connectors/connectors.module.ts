import { Module } from '@nestjs/common';
import { ConnectorRegistry } from './connector-registry.js';
import { ConnectorsController } from './connectors.controller.js';
import { ConnectorsService } from './connectors.service.js';

@Module({
  controllers: [ConnectorsController],
  providers: [ConnectorsService, ConnectorRegistry],
  exports: [ConnectorRegistry],
})
export class ConnectorsModule {}
