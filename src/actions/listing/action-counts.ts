import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import { Transactions } from '../../platform/database/transactions.js';
import { CountFold } from '../../platform/counting/count-fold.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { ActionListRepository } from './action-list.repository.js';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';

const PAUSE_MS = 2_000;

/** Keeps the totals of the list of actions cheap, and tells the metrics how many wait for approval, and for how long. */
@Injectable()
export class ActionCounts extends CountFold implements OnModuleInit {
  constructor(
    private readonly repository: ActionListRepository,
    transactions: Transactions,
    @InjectMetric('approvals_pending') private readonly approvalsPending: Gauge,
    @InjectMetric('approvals_oldest_seconds') private readonly oldestApproval: Gauge,
    private readonly gauges: ScrapedGauges,
  ) {
    super(transactions, { counted: 'actions', lock: AdvisoryLock.ActionCounts, pauseMs: PAUSE_MS });
  }

  onModuleInit(): void {
    this.gauges.register(this.approvalsPending, () => this.repository.countWaitingForApproval());
    this.gauges.register(this.oldestApproval, () => this.repository.oldestWaitingSeconds());
  }

  override async foldPending(): Promise<void> {
    await this.foldInPortions((tx, most) => this.repository.fold(tx, most));
  }
}
