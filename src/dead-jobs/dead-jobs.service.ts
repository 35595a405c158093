import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import type { Principal } from '../auth/principal.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import type { Page } from '../platform/paging/page.js';
import { type Participant, Transactions } from '../platform/database/transactions.js';
import { type DeadJob, DeadJobs, type DeadJobsQuery, Jobs } from '../platform/jobs/jobs.js';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

@Injectable()
export class DeadJobsService {
  constructor(
    private readonly dead: DeadJobs,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
  ) {}

  list(query: DeadJobsQuery): Promise<Page<DeadJob>> {
    return this.dead.list(query);
  }

  async requeue(caller: Principal, id: string, idempotency: Participant<string>): Promise<string> {
    return this.transactions.run(
      async (tx) => {
        if (!(await this.dead.requeue(tx, id))) throw new NotFoundError('Dead job');
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'job.requeued',
          subject: { type: 'job', id },
        });
        return id;
      },
      caller,
      idempotency,
    );
  }
}

/** Stands here because jobs and metrics are on one floor and know nothing of each other. */
@Injectable()
export class JobsMetrics implements OnModuleInit {
  constructor(
    private readonly gauges: ScrapedGauges,
    @InjectMetric('jobs_waiting') private readonly jobsWaiting: Gauge,
    @InjectMetric('jobs_dead') private readonly jobsDead: Gauge,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.jobsWaiting, () => this.sumOf('waiting'));
    this.gauges.register(this.jobsDead, () => this.sumOf('dead'));
  }

  private async sumOf(state: 'waiting' | 'dead'): Promise<number> {
    const queues = await this.jobs.waiting();
    return queues.reduce((sum, queue) => sum + queue[state], 0);
  }
}
