import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import type { Principal } from '../auth/principal.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { type DeadJob, type DeadJobsQuery, WorkStates } from '../platform/work/work-states.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import type { Page } from '../platform/paging/page.js';

@Injectable()
export class DeadJobsService implements OnModuleInit {
  constructor(
    private readonly work: WorkStates,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.gauges.register('jobs_waiting', () => this.sumOf('waiting'));
    this.gauges.register('jobs_dead', () => this.sumOf('dead'));
  }

  list(query: DeadJobsQuery): Promise<Page<DeadJob>> {
    return this.work.listDead(query);
  }

  async requeue(caller: Principal, id: string, idempotency: Participant<string>): Promise<string> {
    const requeue = async (tx: Tx): Promise<string> => {
      await this.work.requeue(tx, id);
      const subject = { type: 'job', id } as const;
      await this.audit.record(tx, { actor: caller.name, action: 'job.requeued', subject });
      return id;
    };
    return this.transactions.run(requeue, caller, idempotency);
  }

  private async sumOf(state: 'waiting' | 'dead'): Promise<number> {
    const queues = await this.work.states();
    return queues.reduce((sum, queue) => sum + queue[state], 0);
  }
}
