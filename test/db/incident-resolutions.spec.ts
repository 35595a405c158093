import type { DataSource } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import { newId } from '../../src/platform/ids.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/open-database.js';
import { Resolutions1795002600000 } from '../../src/platform/database/migrations/1795002600000-resolutions.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('the migration that tells who resolved what and when', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
    const before = schema.migrations.slice(0, schema.migrations.indexOf(Resolutions1795002600000));
    await migrate(database.url, { ...schema, migrations: before });
    dataSource = await createDataSource(schema, { connectionString: database.url }).initialize();
  });
  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  const incident = async (status: string, verdict?: object): Promise<string> => {
    const at = new Date();
    const id = newId(at.getTime());
    await dataSource.query(
      `insert into incidents (id, incident_type, severity, status, source, raw_data, created_by, created_at, updated_at, verdict)
       values ($1, 'bec', 'low', $2, 'test', '{}', 'ada', $3, $3, $4)`,
      [id, status, at, verdict && JSON.stringify(verdict)],
    );
    return id;
  };
  const resolvedBy = async (incidentId: string, actor: string, at: string) =>
    dataSource.query(
      `insert into incident_timeline (id, incident_id, at, event, actor, summary)
       values ($1, $2, $3, 'resolved', $4, 'Resolved.')`,
      [newId(Date.parse(at)), incidentId, at, actor],
    );

  it('takes it from the timeline for what is resolved, and leaves the rest', async () => {
    const [twice, reopened, untold, triaged] = [
      await incident('resolved', { classification: 'benign' }),
      await incident('open'),
      await incident('resolved'),
      await incident('triaged', { classification: 'malicious' }),
    ];
    await resolvedBy(twice, 'ada', '2026-01-02T00:00:00.000Z');
    await resolvedBy(twice, 'bob', '2026-01-03T00:00:00.000Z');
    await resolvedBy(reopened, 'ada', '2026-01-02T00:00:00.000Z');
    await migrate(database.url, schema);
    const shown = async (id: string) => {
      const [row] = await dataSource.query<Record<string, unknown>[]>(
        `select resolved_by as by, resolved_at as at, classification as found from incidents where id = $1`,
        [id],
      );
      return row;
    };
    const at = new Date('2026-01-03T00:00:00.000Z');
    expect(await shown(twice)).toEqual({ by: 'bob', at, found: 'benign' });
    expect(await shown(reopened)).toEqual({ by: null, at: null, found: null });
    expect(await shown(untold)).toEqual({ by: null, at: null, found: null });
    expect(await shown(triaged)).toEqual({ by: null, at: null, found: 'malicious' });
  });

  it('keeps the classification as the verdict has it, whoever writes', async () => {
    const id = await incident('triaged', { classification: 'suspicious' });
    const found = async () =>
      (
        await dataSource.query<{ classification: string | null }[]>(
          `select classification from incidents where id = $1`,
          [id],
        )
      )[0]!.classification;
    expect(await found()).toBe('suspicious');
    const set = (verdict: string | null) =>
      dataSource.query(`update incidents set verdict = $2 where id = $1`, [id, verdict]);
    await set('{"classification":"benign"}');
    expect(await found()).toBe('benign');
    await set(null);
    expect(await found()).toBeNull();
  });
});
