import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ApiHealthController, HealthController } from './health.controller.js';
import { HealthChecks } from './health-checks.js';
import { KillSwitchModule } from '../kill-switch/kill-switch.module.js';
import { HealthService } from './health.service.js';

@Module({
  imports: [KillSwitchModule, TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, ApiHealthController],
  providers: [HealthService, HealthChecks],
})
export class HealthModule {}
