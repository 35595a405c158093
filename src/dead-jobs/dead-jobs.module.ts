import { Module } from '@nestjs/common';
import { DeadJobsController } from './dead-jobs.controller.js';
import { DeadJobsService } from './dead-jobs.service.js';

@Module({ controllers: [DeadJobsController], providers: [DeadJobsService] })
export class DeadJobsModule {}
