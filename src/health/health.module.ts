import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ApiHealthController } from './api-health.controller.js';
import { DatabaseHealth } from './database-health.js';
import { DeadJobsController } from './dead-jobs.controller.js';
import { DeadJobsService } from './dead-jobs.service.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { JobsMetrics } from './jobs-metrics.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, ApiHealthController, DeadJobsController],
  providers: [HealthService, DatabaseHealth, JobsMetrics, DeadJobsService],
})
export class HealthModule {}
