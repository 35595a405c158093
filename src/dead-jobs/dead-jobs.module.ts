import { Module } from '@nestjs/common';
import { DeadJobsController } from './dead-jobs.controller.js';
import { DeadJobsService } from './dead-jobs.service.js';
import { JobsMetrics } from './jobs-metrics.js';

@Module({
  controllers: [DeadJobsController],
  providers: [DeadJobsService, JobsMetrics],
})
export class DeadJobsModule {}
