import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import type { Principal } from '../auth/principal.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import type { Page } from '../platform/paging/page.js';
import { type Participant, Transactions } from '../platform/database/transactions.js';
import { DeadJobs, type DeadJobsQuery } from '../platform/jobs/dead-jobs.js';
import type { DeadJob } from '../platform/jobs/jobs.js';

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
