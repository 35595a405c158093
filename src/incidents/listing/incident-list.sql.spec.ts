import { sortsOf } from '../../platform/paging/page.js';
import type { IncidentListRequest, SortField } from '../incident.js';
import { listQuery } from './incident-list.sql.js';

const request = (changes: Partial<IncidentListRequest> = {}): IncidentListRequest => ({
  page: 1,
  per_page: 20,
  filter: {},
  sort: [{ field: 'created_at', descending: true }],
  ...changes,
});

const nameOf = (changes?: Partial<IncidentListRequest>) =>
  listQuery(request(changes)).statement.name;

describe('listQuery', () => {
  it('keeps one prepared statement for all values of a filter', () => {
    const open = listQuery(request({ filter: { statuses: ['open'] } }));
    const triaged = listQuery(request({ page: 2, filter: { statuses: ['triaged'] } }));
    expect(open.statement).toEqual(triaged.statement);
    expect(open.statement.name).not.toBe('');
    expect(open.values).toEqual([['open'], 0]);
    expect(triaged.values).toEqual([['triaged'], 20]);
  });

  it('gives each form of the statement its own name', () => {
    const names = [
      nameOf(),
      nameOf({ sort: [{ field: 'created_at', descending: false }] }),
      nameOf({ page: 500 }),
      nameOf({ per_page: 50 }),
      nameOf({ filter: { statuses: ['open'] } }),
      nameOf({ filter: { statuses: ['open', 'triaged'] } }),
      nameOf({ filter: { severities: ['low'] } }),
      nameOf({ filter: { sources: ['edr'] } }),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  it('prepares no statement for rare lists', () => {
    for (const rare of [
      { per_page: 37 },
      { page: 900, filter: { sources: ['edr'] } },
      { filter: { createdAfter: '2026-01-01T00:00:00Z' } },
      { sort: sortsOf<SortField>(['-severity', 'created_at']) },
    ]) {
      expect(nameOf(rare)).toBe('');
    }
  });

  it('filters nothing if every status and severity is chosen', () => {
    const all = {
      statuses: ['open', 'triaged', 'resolved', 'open'],
      severities: ['critical', 'high', 'low', 'medium'],
    } as const;
    expect(listQuery(request({ filter: all }))).toEqual(listQuery(request()));
  });

  it('never puts caller values into the text', () => {
    const { statement, values } = listQuery(
      request({ filter: { sources: [`'; drop table incidents; --`], types: ['evil_type'] } }),
    );
    expect(statement.text).not.toMatch(/drop table|evil_type/);
    expect(values).toEqual([['evil_type'], `'; drop table incidents; --`, 0]);
  });
});
