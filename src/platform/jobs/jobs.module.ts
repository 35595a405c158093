import { Global, Module } from '@nestjs/common';
import { HealthComponents } from '../health-components.js';
import { DeadJobs } from './dead-jobs.js';
import { DomainEvents } from './events/domain-events.js';
import { EventOutbox } from './events/event-outbox.js';
import { ProcessedEvents } from './events/processed-events.js';
import { Jobs } from './jobs.js';
import { jobsHealth } from './jobs-health.js';
import { PgBossDeadJobs } from './pg-boss/pg-boss-dead-jobs.js';
import { PgBossJobs } from './pg-boss/pg-boss-jobs.js';

@Global()
@Module({
  providers: [
    { provide: Jobs, useClass: PgBossJobs },
    { provide: DeadJobs, useClass: PgBossDeadJobs },
    EventOutbox,
    ProcessedEvents,
    DomainEvents,
  ],
  exports: [Jobs, DeadJobs, DomainEvents],
})
export class JobsModule {
  constructor(components: HealthComponents, jobs: Jobs) {
    components.register('jobs', () => jobsHealth(jobs));
  }
}
