import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ApiHealthController, HealthController } from './health.controller.js';
import { ClockWatch, HealthChecks } from './health-checks.js';
import { HealthService } from './health.service.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, ApiHealthController],
  providers: [HealthService, HealthChecks, ClockWatch],
})
export class HealthModule {}
