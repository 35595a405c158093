import { Module } from '@nestjs/common';
import { DeadJobsController } from './dead-jobs.controller.js';
import { DeadJobsService, JobsMetrics } from './dead-jobs.service.js';

@Module({
  controllers: [DeadJobsController],
  providers: [DeadJobsService, JobsMetrics],
})
export class DeadJobsModule {}
