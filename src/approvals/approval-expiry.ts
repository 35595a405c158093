import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ActionDecisions } from '../actions/requests/action-decisions.js';
import { Settings } from '../platform/config/settings.js';
import { Transactions } from '../platform/database/transactions.js';
import { Jobs } from '../platform/jobs/jobs.js';

const EVERY_SECONDS = 30;
const BATCH = 100;

/** The job that rejects actions on which nobody decided within APPROVAL_TTL_MINUTES. */
@Injectable()
export class ApprovalExpiry implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly transactions: Transactions,
    private readonly decisions: ActionDecisions,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.jobs.every('approvals.expire', EVERY_SECONDS, (_, { signal }) => this.expire(signal));
  }

  async expire(signal?: AbortSignal): Promise<void> {
    if (this.settings.approvalTtlMinutes === 0) return;
    let rejected = BATCH;
    while (rejected === BATCH && !signal?.aborted) {
      rejected = await this.transactions.run((tx) => this.decisions.rejectExpired(tx, BATCH));
    }
  }
}
