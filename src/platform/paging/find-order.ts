import type { FindOptionsOrder, ObjectLiteral } from 'typeorm';
import { sortsOf, type SortWord } from './sort-words.js';

type Order = Readonly<Record<string, 'ASC' | 'DESC'>>;

/**
 * The order of a list that TypeORM reads. Rows that are equal in all fields are in the order of `key`, which has another
 * value in each row, in the direction of the last field: so no page has a row of another one.
 */
export function findOrder<Entity extends ObjectLiteral, Field extends string>(
  sort: readonly SortWord<NoInfer<Field>>[],
  columns: Readonly<Record<Field, keyof Entity & string>>,
  key: keyof Entity & string,
): Order & FindOptionsOrder<Entity> {
  const sorts = sortsOf<Field>(sort);
  const fields = sorts.map(({ field, descending }) => [columns[field], descending] as const);
  const order: Record<string, 'ASC' | 'DESC'> = {};
  for (const [column, descending] of [...fields, [key, sorts.at(-1)?.descending] as const]) {
    // Two fields may stand for one column, of which the first counts.
    order[column] ??= descending ? 'DESC' : 'ASC';
  }
  return order as Order & FindOptionsOrder<Entity>;
}

/** The same for a query that calls the table `alias`. */
export function orderOfAlias(alias: string, order: Order): Record<string, 'ASC' | 'DESC'> {
  const entries = Object.entries(order);
  return Object.fromEntries(
    entries.map(([column, direction]) => [`${alias}.${column}`, direction]),
  );
}
