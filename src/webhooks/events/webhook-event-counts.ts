import { Injectable } from '@nestjs/common';
import { CountFold } from '../../platform/counting/count-fold.js';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import { Transactions } from '../../platform/database/transactions.js';
import { WebhookEventsRepository } from './webhook-events.repository.js';

const PAUSE_MS = 2_000;

/** Keeps the totals of the list of webhook events cheap. */
@Injectable()
export class WebhookEventCounts extends CountFold {
  constructor(
    private readonly repository: WebhookEventsRepository,
    transactions: Transactions,
  ) {
    const lock = AdvisoryLock.WebhookEventCounts;
    super(transactions, { counted: 'webhook events', lock, pauseMs: PAUSE_MS });
  }

  override async foldPending(): Promise<void> {
    await this.foldInPortions((tx, most) => this.repository.fold(tx, most));
  }
}
