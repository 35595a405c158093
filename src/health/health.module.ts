import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { DatabaseHealth } from './database-health.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { JobsMetrics } from './jobs-metrics.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [HealthService, DatabaseHealth, JobsMetrics],
})
export class HealthModule {}
