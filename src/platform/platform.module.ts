import { Global, Module } from '@nestjs/common';
import { Settings } from './config/settings.js';
import { Clock } from './clock.js';
import { HealthComponents } from './health-components.js';
import { BodyMemory } from './http/body-memory.js';
import { Draining, OpenConnections } from './http/draining.js';
import { KnownRoutes } from './http/known-routes.js';
import { UnknownAddressController } from './http/unknown-address.controller.js';
import { ContractController } from './openapi/contract.controller.js';

/** Never so little that a body of the size that is allowed would not fit. */
const bodyRoom = {
  provide: BodyMemory,
  inject: [Settings],
  useFactory: ({ bodiesLimitBytes, bodyLimitBytes }: Settings) =>
    new BodyMemory(Math.max(bodiesLimitBytes, bodyLimitBytes), bodyLimitBytes),
};

@Global()
@Module({
  controllers: [ContractController, UnknownAddressController],
  providers: [Clock, bodyRoom, Draining, HealthComponents, KnownRoutes, OpenConnections],
  exports: [Clock, Draining, HealthComponents, KnownRoutes, OpenConnections],
})
export class PlatformModule {}
