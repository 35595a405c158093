import { sortsOf } from '../platform/paging/page.js';
import { incidentList, SORT_FIELDS } from './incident-list.js';

const listed = (changes: object = {}) =>
  incidentList({
    page: 1,
    per_page: 20,
    sort: [{ field: 'created_at', descending: true }],
    ...changes,
  });
const nameOf = (changes?: object) => listed(changes).statement.name;

describe('the statement of the list of incidents', () => {
  it('is the same prepared statement for all values of a filter', () => {
    const open = listed({ status: ['open'] });
    const triaged = listed({ page: 2, status: ['triaged'] });
    expect(open.statement).toEqual(triaged.statement);
    expect(open.statement.name).not.toBe('');
    expect([open.values, triaged.values]).toEqual([
      [['open'], 0],
      [['triaged'], 20],
    ]);
  });

  it('is not prepared for rare lists', () => {
    for (const rare of [
      { per_page: 37 },
      { page: 900 },
      { source: ['a', 'b', 'c'] },
      { created_after: '2026-01-01T00:00:00Z' },
      { sort: sortsOf(['-severity', 'created_at']) },
    ]) {
      expect(nameOf(rare)).toBe('');
    }
  });

  it('has a bounded number of names, whatever callers send', () => {
    const names = new Set<string>();
    const values = (n: number) => [undefined, ['a'], ['a', 'b']][n];
    for (const field of SORT_FIELDS) {
      for (const descending of [true, false]) {
        for (const per_page of [10, 20, 25, 50, 100]) {
          for (let choice = 0; choice < 81; choice += 1) {
            const [source, type] = [values(choice % 3), values(Math.floor(choice / 3) % 3)];
            const status = values(Math.floor(choice / 9) % 3);
            const severity = values(Math.floor(choice / 27));
            const filters = { source, type, status, severity };
            names.add(nameOf({ ...filters, per_page, sort: [{ field, descending }] }));
          }
        }
      }
    }
    expect(names.size).toBeLessThanOrEqual(201);
  });

  it('filters nothing if every status and severity is chosen', () => {
    const all = {
      status: ['open', 'triaged', 'resolved', 'open'],
      severity: ['critical', 'high', 'low', 'medium'],
    };
    expect(listed(all)).toEqual(listed());
  });

  it('does not contain values of the caller', () => {
    const attack = `'; drop table incidents; --`;
    const { statement, values } = listed({ source: [attack], type: ['evil_type'] });
    expect(statement.text).not.toMatch(/drop table|evil_type/);
    expect(values).toEqual([[attack], ['evil_type'], 0]);
  });
});
