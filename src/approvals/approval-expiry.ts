import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ActionDecisions } from '../actions/requests/action-decisions.js';
import { Settings } from '../platform/config/settings.js';
import { Transactions, type Tx } from '../platform/database/transactions.js';
import { Jobs } from '../platform/jobs/jobs.js';

const EVERY_SECONDS = 30;
const BATCH = 100;

/** The jobs that remind of actions on which nobody decided yet, and reject them after APPROVAL_TTL_MINUTES. */
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
    this.jobs.every('approvals.remind', EVERY_SECONDS, (_, { signal }) => this.remind(signal));
  }

  async expire(signal?: AbortSignal): Promise<void> {
    await this.inBatches((tx) => this.decisions.rejectExpired(tx, BATCH), signal);
  }

  async remind(signal?: AbortSignal): Promise<void> {
    await this.inBatches((tx) => this.decisions.remindOfExpiry(tx, BATCH), signal);
  }

  private async inBatches(
    work: (tx: Tx) => Promise<number>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (this.settings.approvalTtlMinutes === 0) return;
    let done = BATCH;
    while (done === BATCH && !signal?.aborted) done = await this.transactions.run(work);
  }
}
