// SQL by hand: batched inserts of many rows, which TypeORM would write with a parameter for each value.

/** A column of the table, and how its value is taken from a row. */
export interface InsertedColumn<Row> {
  readonly name: string;
  readonly type: string;
  readonly of: (row: Row) => string | Buffer | null;
}

export function namesOf<Row>(columns: readonly InsertedColumn<Row>[]): string {
  return columns.map(({ name }) => name).join(', ');
}

/**
 * The text of an insert of any number of rows: each column is one array parameter, beginning with the given number. It is a
 * statement of its own, or a CTE in the statement of the change that the rows record, which saves a round trip. A condition
 * that is appended to it (` where …`) may name the columns.
 */
export function insertRows<Row>(
  table: string,
  columns: readonly InsertedColumn<Row>[],
  firstParameter: number,
): string {
  const arrays = columns.map(({ type }, index) => `$${firstParameter + index}::${type}[]`);
  const names = namesOf(columns);
  return `insert into ${table} (${names}) select * from unnest(${arrays.join(', ')}) as added (${names})`;
}

/** The values of those parameters. */
export function valuesOfRows<Row>(
  columns: readonly InsertedColumn<Row>[],
  rows: readonly Row[],
): unknown[] {
  return columns.map(({ of }) => rows.map(of));
}
