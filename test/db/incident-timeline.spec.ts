import type { QueryResultRow } from 'pg';
import { IncidentReports } from '../../src/incidents/reports/incident-reports.js';
import { type Statement, Statements } from '../../src/platform/database/statements.js';
import type { Tx } from '../../src/platform/database/transactions.js';
import { newId } from '../../src/platform/ids.js';
import {
  IncidentTimeline,
  type NewTimelineEntry,
} from '../../src/incidents/timeline/incident-timeline.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('the timeline of an incident', () => {
  const { query, statements, transactions, dataSource } = useTestDatabase();
  let incidentId: string;
  let now = 0;
  const clock = { now: () => new Date(now) };

  const timeline = new IncidentTimeline(statements, clock);

  beforeEach(async () => {
    const at = new Date();
    incidentId = newId(at.getTime());
    await query(
      `insert into incidents (id, incident_type, severity, status, source, title, raw_data, fields, created_by, created_at, updated_at, version)
       values ($1, 'malware', 'high', 'open', 'test', 'test', '{}', '{}', 'test', $2, $2, 1)`,
      [incidentId, at],
    );
  });

  const entry = (event: string): NewTimelineEntry => ({
    incidentId,
    event,
    actor: 'alice',
    summary: event,
  });
  const add = (work: (tx: Tx) => Promise<void>) => transactions.run(work);
  const entries = async (): Promise<{ event: string; at: Date }[]> =>
    await query('select event, at from incident_timeline where incident_id = $1 order by id', [
      incidentId,
    ]);

  it('keeps the order in which a transaction adds entries, even within a millisecond', async () => {
    now = Date.UTC(2100, 5, 1);
    const events = Array.from({ length: 50 }, (_, n) => `event ${n}`);
    await add(async (tx) => {
      for (const event of events) await timeline.add(tx, entry(event));
    });
    expect((await entries()).map(({ event }) => event)).toEqual(events);
  });

  it('reads a page of later reports and their total in the same moment', async () => {
    class LosingReports extends Statements {
      override async rows<R extends QueryResultRow>(statement: Statement, values: unknown[]) {
        const found = await super.rows<R>(statement, values);
        await query('delete from incident_reports');
        return found;
      }
    }
    const reports = new IncidentReports(new LosingReports(dataSource), clock);
    await add(async (tx) => {
      for (const text of ['1.50', '2.50']) {
        await reports.add(tx, {
          incident_id: incidentId,
          source: 'siem',
          severity: 'high',
          webhook_event_id: newId(),
          raw_data: `{"n":${text}}`,
        });
      }
    });
    const { items, total } = await reports.page(incidentId, { page: 1, per_page: 1 });
    expect([items.map(({ raw_data }) => raw_data), total]).toEqual([['{"n":1.50}'], 2]);
  });
});
