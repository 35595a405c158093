import { Injectable } from '@nestjs/common';
import { CountFold } from '../../platform/counting/count-fold.js';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import { Transactions } from '../../platform/database/transactions.js';
import { DeliveryListRepository } from '../records/delivery-list.repository.js';

const PAUSE_MS = 2_000;

/** Keeps the totals of the lists of deliveries cheap. */
@Injectable()
export class DeliveryCounts extends CountFold {
  constructor(
    private readonly repository: DeliveryListRepository,
    transactions: Transactions,
  ) {
    const lock = AdvisoryLock.NotificationDeliveryCounts;
    super(transactions, { counted: 'notifications', lock, pauseMs: PAUSE_MS });
  }

  override async foldPending(): Promise<void> {
    await this.foldInPortions((tx, most) => this.repository.fold(tx, most));
  }
}
