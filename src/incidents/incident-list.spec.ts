import { sortWords } from '../platform/paging/page.js';
import { incidentList, SORT_FIELDS } from './incident-list.js';

const listed = (changes: object = {}) =>
  incidentList({
    page: 1,
    per_page: 20,
    sort: '-created_at',
    ...changes,
  });
const nameOf = (changes?: object) => listed(changes).statement.name;

describe('the SQL statement of the list of incidents', () => {
  it('is the same prepared statement for all values of a filter', () => {
    const open = listed({ status: ['open'] });
    const triaged = listed({ status: ['triaged', 'resolved'] });
    expect(open.statement).toEqual(triaged.statement);
    expect(open.statement.name).not.toBe('');
    expect([open.values, triaged.values]).toEqual([[['open']], [['triaged', 'resolved']]]);
  });

  it('is not a prepared statement for rarely used filters and sort orders', () => {
    for (const rare of [
      { page: 2 },
      { status: ['open'], sort: '-updated_at' },
      { created_after: '2026-01-01T00:00:00Z' },
      { sort: ['-severity', 'created_at'] },
    ]) {
      expect(nameOf(rare)).toBe('');
    }
  });

  it('has a limited number of names for any parameters of callers', () => {
    const names = new Set<string>();
    for (const sort of sortWords(...SORT_FIELDS)) {
      for (let per_page = 1; per_page <= 100; per_page += 1) names.add(nameOf({ sort, per_page }));
    }
    expect(names.size).toBeLessThanOrEqual(201);
  });

  it('does not contain values that the caller sent', () => {
    const attack = `'; drop table incidents; --`;
    const { statement, values } = listed({ source: [attack], type: ['evil_type'] });
    expect(statement.text).not.toMatch(/drop table|evil_type/);
    expect(values).toEqual([[attack], ['evil_type']]);
  });
});
