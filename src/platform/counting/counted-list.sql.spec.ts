import {
  BY_ID,
  byId,
  countOf,
  choiceOf,
  idsInOrder,
  isChosen,
  listStatement,
  orderBy,
  orderOf,
  pageOf,
  StatementValues,
} from './counted-list.sql.js';
import { sortsOf, type SortWord } from '../paging/page.js';

const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

describe('choiceOf', () => {
  it('adds each value once, as a parameter', () => {
    const values = new StatementValues();
    values.add(7, 'integer');
    expect(choiceOf(['a', 'b', 'a'], 'text', values)).toEqual({
      array: '$2::text[]',
      each: ['($2::text[])[1]', '($2::text[])[2]'],
    });
    expect(values.all).toEqual([7, ['a', 'b']]);
  });

  it('returns undefined for no value, or for all values', () => {
    const values = new StatementValues();
    expect(choiceOf(undefined, 'text', values)).toBeUndefined();
    expect(choiceOf([], 'text', values)).toBeUndefined();
    expect(choiceOf(['a', 'b', 'a'], 'text', values, 2)).toBeUndefined();
    expect(values.all).toEqual([]);
  });
});

describe('isChosen', () => {
  it('compares with the array, if there is one', () => {
    const choice = { array: '$1::colour[]', each: ['($1::colour[])[1]'] };
    expect(isChosen('colour', choice)).toBe('colour = any($1::colour[])');
    expect(isChosen('source', { each: ['$2::text'] })).toBe('source = $2::text');
  });
});

describe('orderOf', () => {
  const columns = {
    created_at: BY_ID,
    number: { column: 'number', unique: true },
    status: { column: 'status' },
    at: { column: 'at', nullable: true },
  } as const;
  const ordered = (...words: SortWord<keyof typeof columns>[]) =>
    orderBy(orderOf(sortsOf<keyof typeof columns>(words), columns));

  it('orders equal values by id in the direction of the last field, and nulls last', () => {
    expect(ordered('-created_at')).toBe('id desc');
    expect(ordered('number')).toBe('number asc');
    expect(ordered('status')).toBe('status asc, id asc');
    expect(ordered('-at')).toBe('at desc nulls last, id desc');
    expect(ordered('-status', 'at')).toBe('status desc, at asc nulls last, id asc');
    expect(ordered('-status', 'created_at')).toBe('status desc, id asc');
  });

  it('omits fields after a unique column', () => {
    expect(ordered('created_at', '-status')).toBe('id asc');
    expect(ordered('status', '-number', 'at')).toBe('status asc, number desc');
  });

  it('adds the table name if there is one', () => {
    expect(orderBy(orderOf(sortsOf<'status'>(['status']), columns), 'item')).toBe(
      'item.status asc, item.id asc',
    );
  });
});

describe('listStatement', () => {
  it('reads the total and the page in one statement', () => {
    const text = listStatement({
      ctes: ['deltas as (select 1)'],
      total: countOf('thing', [`status = 'open'`]),
      ids: idsInOrder('things', [['a = 1'], ['a = 2', 'b']], 'asc', 40),
      columns: 'id, a',
      table: 'things',
      order: byId('asc'),
    });
    expect(plain(text)).toBe(
      plain(`
        with deltas as (select 1),
          total as materialized (select (
            (select coalesce(sum(n), 0) from thing_counts where status = 'open') +
            (select coalesce(sum(n), 0) from thing_count_deltas where status = 'open'))::bigint as total),
          page as materialized (select id from (
            (select id from things where a = 1 order by id asc) union all
            (select id from things where a = 2 and b order by id asc)) as range order by id asc limit 40)
        select total.total, item.* from total left join (
          page cross join lateral (
            select id, a from things where things.id = page.id offset 0) as item) on true
         order by item.id asc`).replaceAll('( (', '(('),
    );
  });
});

describe('pageOf', () => {
  it('returns an empty page for a row without an id', () => {
    const row = { id: 'x', total: '3' };
    expect(pageOf([row, row], ({ id }) => id)).toEqual({ total: 3, items: ['x', 'x'] });
    const past = { id: null as unknown as string, total: '3' };
    expect(pageOf([past], ({ id }) => id)).toEqual({ total: 3, items: [] });
  });
});
