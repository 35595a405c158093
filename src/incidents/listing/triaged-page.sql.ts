/**
 * Sorted by triaged_at, with what has none at the end. The two parts are read apart, each in the order of an index, and
 * the second only when the first does not fill the page.
 */
export function triagedPage(
  conditions: string,
  order: { readonly first: string; readonly rest: string; readonly both: string },
  most: number,
  window: string,
): { with: string; ids: string } {
  return {
    with: `
  triaged as materialized (
    select id, triaged_at from incidents where ${conditions} and triaged_at is not null
     order by ${order.first} limit ${most}),
  untriaged as materialized (
    select id, triaged_at from incidents where ${conditions} and triaged_at is null
       and (select count(*) from triaged) < ${most}
     order by ${order.rest} limit ${most})`,
    ids: `
    select id from (select * from triaged union all select * from untriaged) as either
     order by ${order.both} ${window}`,
  };
}
