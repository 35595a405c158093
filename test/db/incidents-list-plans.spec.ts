import { poolOf } from '../../src/platform/database/data-source.js';
import {
  incidentList,
  type IncidentListRequest,
  type SORT_FIELDS,
} from '../../src/incidents/incident-list.js';
import { useTestDatabase } from '../support/open-test-database.js';
import { foldDeltas, insertIncidents } from './incidents-harness.js';

type IncidentFilter = Omit<IncidentListRequest, 'page' | 'per_page' | 'sort'>;
type SortField = (typeof SORT_FIELDS)[number];

const FILTERS: Readonly<Record<string, IncidentFilter>> = {
  nothing: {},
  status: { status: ['open'] },
  severity: { severity: ['high'] },
  type: { type: ['phishing'] },
  source: { source: ['edr'] },
  'type and source': { type: ['phishing'], source: ['edr', 'gateway'] },
};

/** PostgreSQL makes a new plan for each of the first five executions of a prepared statement. */
const PLANNED_ALONE = 5;
const TIMES = 12;

/** The times of the generated incidents are within an hour. */
const IN_A_WHILE = new Date(Date.now() + 50 * 60_000).toISOString();

describe('the list of incidents after an import', () => {
  const { dataSource } = useTestDatabase();

  beforeAll(() => insertIncidents(dataSource, 12_000));

  it.each(Object.entries(FILTERS))(
    'keeps the query plan of a list by %s after many count changes were added to the totals',
    async (_, filter) => {
      await foldDeltas(dataSource);
      await dataSource.query('vacuum analyze');
      const client = await poolOf(dataSource).connect();
      try {
        const sort = '-created_at';
        const { statement, values } = incidentList({ page: 1, per_page: 20, sort, ...filter });
        for (let time = 0; time < TIMES; time += 1) {
          await client.query({ ...statement, values: [...values] });
        }
        const plans = await client.query<{ generic: number }>(
          `select generic_plans::integer as generic from pg_prepared_statements where name = $1`,
          [statement.name],
        );
        expect(plans.rows[0]!.generic).toBeGreaterThanOrEqual(TIMES - PLANNED_ALONE);
      } finally {
        client.release();
      }
    },
  );

  it.each<[string, IncidentFilter, SortField?]>([
    ['using uq_incidents_number ', { number: ['INC-2026-0042'] }],
    ['using ix_incidents_classification ', { classification: ['malicious'] }],
    ['using ix_incidents_classification ', { classification: ['malicious'], source: ['edr'] }],
    ['using ix_incidents_updated_at ', { updated_after: IN_A_WHILE }],
    ['using ix_incidents_resolved_at ', { resolved_after: IN_A_WHILE }],
    [' Scan Backward using ix_incidents_triaged_at ', {}, 'triaged_at'],
    [' Scan Backward using ix_incidents_resolved_at ', {}, 'resolved_at'],
  ])(
    'has a query plan with %s for %j, and does not read all incidents',
    async (scan, filter, field = 'created_at') => {
      await dataSource.query('vacuum analyze incidents');
      const sort = `-${field}` as const;
      const { statement, values } = incidentList({ page: 1, per_page: 20, sort, ...filter });
      const plan = await dataSource.query<object[]>(`explain ${statement.text}`, [...values]);
      const text = JSON.stringify(plan);
      expect(text).toContain(scan);
      expect(text).not.toContain('Seq Scan on incidents');
    },
  );
});
