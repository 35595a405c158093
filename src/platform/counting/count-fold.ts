// SQL: isolation level, statement timeout and advisory lock, of which TypeORM supports only the first.
import {
  type BeforeApplicationShutdown,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { BackgroundLoop } from '../concurrency/background-loop.js';
import type { AdvisoryLock } from '../database/advisory-locks.js';
import type { Statement, Statements } from '../database/statements.js';
import type { Transactions, Tx } from '../database/transactions.js';

const PAUSE_MS = 2_000;
const DELTAS_PER_FOLD = 10_000;
/** A fold after a bulk import reads far more rows than a request may. */
const FOLD_TIMEOUT_MS = 3_600_000;

interface Counted {
  /** Name of the counted rows in the log. */
  readonly rows: string;
  /** `<table>_counts` has the sums, `<table>_count_deltas` the deltas. */
  readonly table: string;
  /** Columns by which rows are counted, the key of `<table>_counts`. */
  readonly by: readonly string[];
  /** Admits one replica at a time. */
  readonly lock: AdvisoryLock;
}

/**
 * Keeps exact totals cheap. Triggers append a delta (+1 or -1) for each inserted, changed or deleted row. The fold
 * regularly adds the deltas to the sums. A list reads the sums plus the remaining deltas in one statement (see
 * countOf), so its total is always exact; the fold only keeps the number of deltas small. Each replica tries to
 * fold; a lock admits one at a time.
 */
export abstract class CountFold implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: BackgroundLoop;
  private readonly fold: Statement;

  protected constructor(
    protected readonly statements: Statements,
    private readonly transactions: Transactions,
    private readonly counted: Counted,
  ) {
    const log = new Logger(this.constructor.name);
    const options = { task: `Counting ${counted.rows}`, log, pauseMs: PAUSE_MS };
    this.loop = new BackgroundLoop(options, () => this.foldPending());
    this.fold = foldStatement(counted);
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  /** Adds the existing deltas to the sums, in portions. */
  async foldPending(): Promise<void> {
    const portion = () => this.transactions.run((tx) => this.foldPortion(tx));
    while ((await portion()) === DELTAS_PER_FOLD);
  }

  /**
   * Returns the number of deltas that it added. If another fold committed between snapshot and lock, the transaction
   * fails with a serialization error, and Transactions retries it.
   */
  private async foldPortion(tx: Tx): Promise<number> {
    await tx.query('set transaction isolation level repeatable read');
    await tx.query(`set local statement_timeout = ${FOLD_TIMEOUT_MS}`);
    const [{ locked }] = await tx.query<[{ locked: boolean }]>(
      'select pg_try_advisory_xact_lock($1) as locked',
      [this.counted.lock],
    );
    if (!locked) return 0;
    const [row] = await this.statements.rowsIn<{ n: number }>(tx, this.fold, [DELTAS_PER_FOLD]);
    return row!.n;
  }
}

/** Takes the oldest deltas, at most $1, deletes them, and returns their number. */
function foldStatement({ table, by }: Counted): Statement {
  const columns = by.join(', ');
  const sums = `${table}_counts`;
  const deltas = `${table}_count_deltas`;
  return {
    name: `${table}_fold_counts`,
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
