import { Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { HealthComponents } from './health-components.js';
import { Draining } from './http/draining.js';
import { OpenConnections } from './http/open-connections.js';
import { ContractController } from './openapi/contract.controller.js';

@Global()
@Module({
  controllers: [ContractController],
  providers: [Clock, Draining, HealthComponents, OpenConnections],
  exports: [Clock, Draining, HealthComponents, OpenConnections],
})
export class CommonModule {}
