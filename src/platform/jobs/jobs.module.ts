import { Global, Module } from '@nestjs/common';
import { type ComponentHealth, HealthComponents } from '../health-components.js';
import { Jobs } from './jobs.js';
import { DeadJobs } from './dead-jobs.js';
import { DomainEvents } from './events/domain-events.js';
import { EventOutbox } from './events/event-outbox.js';
import { ProcessedEvents } from './events/processed-events.js';
import { UnhandledEvents } from './events/unhandled-events.js';
import { PgBossDeadJobs } from './pg-boss/pg-boss-dead-jobs.js';
import { PgBossJobs } from './pg-boss/pg-boss-jobs.js';

/** Dead jobs are for an operator to look at; they hinder nothing. */
async function jobsHealth(jobs: Jobs): Promise<ComponentHealth> {
  if (!jobs.started) return { status: 'degraded', message: 'The job queue has not started yet.' };
  const states = await jobs.waiting();
  const sum = (of: 'waiting' | 'active' | 'dead'): number =>
    states.reduce((total, state) => total + state[of], 0);
  return { status: 'healthy', waiting: sum('waiting'), active: sum('active'), dead: sum('dead') };
}

@Global()
@Module({
  providers: [
    { provide: Jobs, useClass: PgBossJobs },
    { provide: DeadJobs, useClass: PgBossDeadJobs },
    EventOutbox,
    ProcessedEvents,
    UnhandledEvents,
    DomainEvents,
  ],
  exports: [Jobs, DeadJobs, DomainEvents],
})
export class JobsModule {
  constructor(components: HealthComponents, jobs: Jobs) {
    components.register('jobs', () => jobsHealth(jobs));
  }
}
