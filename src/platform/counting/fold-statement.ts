// SQL: a fold is one statement over all deltas that it adds.
import type { Statement } from '../database/statements.js';

/**
 * The fold of a table that keeps the simple way of counting: `<counted>_count_deltas` with the columns of the counted
 * dimensions, an id and `n`, and `<counted>_counts` with the same dimensions as its key. It takes the oldest deltas, at
 * most $1, and answers how many those were. What it adds it deletes: the deltas have no number of a transaction, by which
 * to know folded ones.
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
