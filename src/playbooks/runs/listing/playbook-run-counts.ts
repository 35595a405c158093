import { Injectable } from '@nestjs/common';
import { CountFold } from '../../../platform/counting/count-fold.js';
import { AdvisoryLock } from '../../../platform/database/advisory-locks.js';
import { Transactions } from '../../../platform/database/transactions.js';
import { RunListRepository } from './run-list.repository.js';

const PAUSE_MS = 2_000;

/** Keeps the totals of the lists of playbook runs cheap. */
@Injectable()
export class PlaybookRunCounts extends CountFold {
  constructor(
    private readonly repository: RunListRepository,
    transactions: Transactions,
  ) {
    const lock = AdvisoryLock.PlaybookRunCounts;
    super(transactions, { counted: 'playbook runs', lock, pauseMs: PAUSE_MS });
  }

  override async foldPending(): Promise<void> {
    await this.foldInPortions((tx, most) => this.repository.fold(tx, most));
  }
}
