/** A column of a table that rows are inserted into, and what it is of a row. */
export interface InsertedColumn<Row> {
  readonly name: string;
  readonly type: string;
  readonly of: (row: Row) => string | Buffer | null;
}

export function namesOf<Row>(columns: readonly InsertedColumn<Row>[]): string {
  return columns.map(({ name }) => name).join(', ');
}

/**
 * Inserts any number of rows, each column from one array, beginning with the given parameter. Stands alone, or as a CTE
 * in the statement of the change that the rows tell of, which saves a round trip.
 */
export function insertRows<Row>(
  table: string,
  columns: readonly InsertedColumn<Row>[],
  firstParameter: number,
): string {
  const arrays = columns.map(({ type }, index) => `$${firstParameter + index}::${type}[]`);
  return `insert into ${table} (${namesOf(columns)}) select * from unnest(${arrays.join(', ')})`;
}

/** The values of those parameters. */
export function valuesOfRows<Row>(
  columns: readonly InsertedColumn<Row>[],
  rows: readonly Row[],
): unknown[] {
  return columns.map(({ of }) => rows.map(of));
}
