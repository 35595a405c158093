// SQL: an isolation level, a time limit and an advisory lock, of which TypeORM knows one.
import {
  type BeforeApplicationShutdown,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { BackgroundLoop } from '../concurrency/background-loop.js';
import { AdvisoryLock } from '../database/advisory-locks.js';
import type { Transactions, Tx } from '../database/transactions.js';

/** A fold after a bulk import, or counting anew, reads far more than any request may: it takes the time that it takes. */
export const FOLD_TIMEOUT_MS = 3_600_000;

const DELTAS_PER_FOLD = 10_000;

/**
 * Keeps exact totals cheap. Triggers append a delta (+1 or -1) for each row that is added, changed or removed; the fold
 * adds the deltas to the sums now and then. A list reads the sums and the deltas that are not in them yet in one
 * statement (see exactTotal), so that its total is exact at every moment: the fold only keeps the deltas few. Each
 * replica tries to fold, and one at a time does it.
 */
export abstract class CountFold implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: BackgroundLoop;

  protected constructor(
    protected readonly transactions: Transactions,
    /** `counted` is what is counted, as the log says it. `lock` lets one replica at a time fold. */
    private readonly options: {
      readonly counted: string;
      readonly lock: AdvisoryLock;
      readonly pauseMs: number;
    },
  ) {
    const { counted, pauseMs } = options;
    const log = new Logger(this.constructor.name);
    this.loop = new BackgroundLoop({ task: `Counting ${counted}`, log, pauseMs }, () =>
      this.foldPending(),
    );
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Adds the deltas that are there to the sums. */
  abstract foldPending(): Promise<void>;

  /** Folds a bounded number at a time until fewer are left. @param fold answers how many deltas it added to the sums */
  protected async foldInPortions(fold: (tx: Tx, most: number) => Promise<number>): Promise<void> {
    const portion = () => this.whileNobodyFolds((tx) => fold(tx, DELTAS_PER_FOLD));
    while ((await portion()) === DELTAS_PER_FOLD);
  }

  /**
   * Runs `work` in one snapshot while nobody else folds; answers undefined when somebody does. A fold that committed
   * between the snapshot and the lock makes the work fail, and Transactions runs it again.
   */
  protected async whileNobodyFolds<T>(work: (tx: Tx) => Promise<T>): Promise<T | undefined> {
    return await this.transactions.run<T | undefined>(async (tx) => {
      await tx.query('set transaction isolation level repeatable read');
      await tx.query(`set local statement_timeout = ${FOLD_TIMEOUT_MS}`);
      const [{ locked }] = await tx.query<[{ locked: boolean }]>(
        'select pg_try_advisory_xact_lock($1) as locked',
        [this.options.lock],
      );
      return locked ? await work(tx) : undefined;
    });
  }
}
