// SQL: isolation level, statement timeout and advisory lock, of which TypeORM supports only the first.
import {
  type BeforeApplicationShutdown,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { BackgroundLoop } from '../concurrency/background-loop.js';
import { AdvisoryLock } from '../database/advisory-locks.js';
import type { Transactions, Tx } from '../database/transactions.js';
import type { Statement } from '../database/statements.js';

/** A fold after a bulk import, or a recount, reads far more rows than a request may. */
export const FOLD_TIMEOUT_MS = 3_600_000;

const DELTAS_PER_FOLD = 10_000;

/**
 * Keeps exact totals cheap. Triggers append a delta (+1 or -1) for each inserted, changed or deleted row. The fold
 * regularly adds the deltas to the sums. A list reads the sums plus the remaining deltas in one statement (see
 * exactTotal), so its total is always exact; the fold only keeps the number of deltas small. Each replica tries to
 * fold; a lock admits one at a time.
 */
export abstract class CountFold implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: BackgroundLoop;

  protected constructor(
    protected readonly transactions: Transactions,
    /** `counted` names the rows in the log. `lock` admits one replica at a time. */
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

  /** Adds the existing deltas to the sums. */
  abstract foldPending(): Promise<void>;

  /** Folds bounded batches until fewer deltas are left. @param fold returns the number of deltas that it added */
  protected async foldInPortions(fold: (tx: Tx, most: number) => Promise<number>): Promise<void> {
    const portion = () => this.whileNobodyFolds((tx) => fold(tx, DELTAS_PER_FOLD));
    while ((await portion()) === DELTAS_PER_FOLD);
  }

  /**
   * Runs `work` in one snapshot while no other replica folds; returns `undefined` if another replica does. If a fold
   * committed between snapshot and lock, the work fails with a serialization error and Transactions retries it.
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

const PAUSE_MS = 2_000;

/** Counts of a table with the statement of foldStatement. A subclass names the repository, the lock and the word in the log. */
export abstract class SimpleCounts extends CountFold {
  protected constructor(
    private readonly repository: { fold(tx: Tx, most: number): Promise<number> },
    transactions: Transactions,
    lock: AdvisoryLock,
    counted: string,
  ) {
    super(transactions, { counted, lock, pauseMs: PAUSE_MS });
  }

  override async foldPending(): Promise<void> {
    await this.foldInPortions((tx, most) => this.repository.fold(tx, most));
  }
}

/**
 * The fold of a table that counts in the simple way: `<counted>_count_deltas` has the counted dimensions, an id and
 * `n`; `<counted>_counts` has the same dimensions as its key. It takes the oldest deltas, at most $1, deletes them, and
 * returns their number.
 */
export function foldStatement(counted: string, dimensions: readonly string[]): Statement {
  const columns = dimensions.join(', ');
  const sums = `${counted}_counts`;
  const deltas = `${counted}_count_deltas`;
  return {
    name: `${counted}_fold_counts`,
    text: `
    with folded as (
      delete from ${deltas} where id <= (
        select max(id) from (select id from ${deltas} order by id limit $1) as oldest)
      returning ${columns}, n),
    summed as (
      select ${columns}, sum(n) as n from folded group by ${columns}),
    kept as (
      insert into ${sums} (${columns}, n) select * from summed
      on conflict on constraint pk_${sums} do update set n = ${sums}.n + excluded.n)
    select count(*)::integer as n from folded`,
  };
}
