import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import { Injectable } from '@nestjs/common';
import { CountFold } from '../../platform/counting/count-fold.js';
import { Transactions } from '../../platform/database/transactions.js';
import { type CountDifference, IncidentCountsRepository } from './incident-counts.repository.js';

/** The deltas of 250 ms cost a list a fraction of a millisecond at 10 000 changes per second. */
const PAUSE_MS = 250;
/** Number of folds between deletions of folded deltas. The last deltas are deleted when there is nothing to fold. */
const FOLDS_PER_PURGE = 40;

/** Keeps totals and deep pages of the list fast for any number of incidents. */
@Injectable()
export class IncidentCounts extends CountFold {
  private foldsSincePurge = 0;

  constructor(
    private readonly repository: IncidentCountsRepository,
    transactions: Transactions,
  ) {
    super(transactions, {
      counted: 'incidents',
      lock: AdvisoryLock.IncidentCounts,
      pauseMs: PAUSE_MS,
    });
  }

  override async foldPending(): Promise<void> {
    const { pending, restored } = await this.repository.pending();
    if (restored) await this.recount();
    else if (pending) await this.fold();
    if (this.foldsSincePurge >= FOLDS_PER_PURGE || (!pending && this.foldsSincePurge > 0)) {
      await this.purge();
    }
  }

  /**
   * Counts all incidents again, after a restore into another cluster or for an operator; `false` if a fold is running.
   */
  async recount(): Promise<boolean> {
    const done = await this.whileNobodyFolds(async (tx) => {
      await this.repository.recount(tx);
      return true;
    });
    return done === true;
  }

  async differences(): Promise<readonly CountDifference[]> {
    return await this.transactions.run((tx) => this.repository.differences(tx));
  }

  private async fold(): Promise<void> {
    await this.whileNobodyFolds((tx) => this.repository.fold(tx));
    this.foldsSincePurge += 1;
  }

  private async purge(): Promise<void> {
    while (!(await this.repository.purge()));
    this.foldsSincePurge = 0;
  }
}
