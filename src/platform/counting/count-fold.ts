// SQL: the tables are found by their names, and one statement adds up and deletes.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../database/statements.js';
import { Transactions, type Tx } from '../database/transactions.js';

const DELTAS_PER_FOLD = 10_000;
/** Longer than for a request, because a fold after a bulk import reads far more rows. */
const FOLD_TIMEOUT_MS = 3_600_000;

/** `<name>_counts` has the sums for each value of its primary key, and `<name>_count_deltas` has the deltas. */
interface Counted {
  readonly name: string;
  readonly columns: string;
}

const COUNTED: Statement = {
  name: 'counted_tables',
  text: `
    select left(table_name, -length('_counts')) as name,
           string_agg(column_name, ', ' order by ordinal_position) as columns
      from information_schema.key_column_usage
     where table_schema = current_schema() and constraint_name like 'pk\\_%\\_counts'
     group by table_name order by table_name`,
};

/**
 * Keeps exact totals cheap. Triggers append a delta (+1 or -1) for each inserted, changed or deleted row. The fold regularly
 * adds the deltas to the sums. A list reads the sums plus the remaining deltas in one statement (see countOf), so its total is
 * always exact; the fold only keeps the number of deltas small. Folds of several replicas may overlap: each delta is deleted once.
 */
@Injectable()
export class CountFold {
  constructor(
    private readonly statements: Statements,
    private readonly transactions: Transactions,
  ) {}

  /** Adds the existing deltas to the sums, in batches. */
  async foldPending(): Promise<void> {
    for (const counted of await this.statements.rows<Counted>(COUNTED)) {
      const fold = foldStatement(counted);
      while ((await this.transactions.run((tx) => this.foldPortion(tx, fold))) === DELTAS_PER_FOLD);
    }
  }

  private async foldPortion(tx: Tx, fold: Statement): Promise<number> {
    await tx.query(`set local statement_timeout = ${FOLD_TIMEOUT_MS}`);
    const [row] = await this.statements.rowsIn<{ n: number }>(tx, fold, [DELTAS_PER_FOLD]);
    return row!.n;
  }
}

/** Statement that adds the oldest deltas, at most $1, to the sums, deletes these deltas, and returns their number. */
function foldStatement({ name, columns }: Counted): Statement {
  const [sums, deltas] = [`${name}_counts`, `${name}_count_deltas`];
  return {
    name: `${name}_fold_counts`,
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
