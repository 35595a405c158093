import type { DataSource } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { Reopened1795003300000 } from '../../src/platform/database/migrations/1795003300000-reopened.js';
import { migrate } from '../../src/platform/database/open-database.js';
import { newId } from '../../src/platform/ids.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const NEW = 'incident.reopened';
/** What a channel could choose then. */
const BEFORE = [
  ...['incident.created', 'incident.severity_changed', 'incident.triaged', 'incident.resolved'],
  ...['incident.deleted', 'triage.failed', 'action.pending_approval', 'action.completed'],
  ...['action.failed', 'action.rejected', 'kill_switch.activated', 'kill_switch.deactivated'],
  ...['connector.unhealthy', 'connector.recovered'],
];

describe('the migration that lets channels be told of incidents that are opened again', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  const upTo = (more: number) => {
    const last = schema.migrations.indexOf(Reopened1795003300000) + more;
    return { ...schema, migrations: schema.migrations.slice(0, last) };
  };
  const channel = (name: string, events: readonly string[]) =>
    dataSource.query(
      `insert into notification_channels
         (id, name, name_key, type, enabled, events, min_severity, config, created_by)
       values ($1, $2, $2, 'webhook', true, $3, 'low', '{}', 'alice')`,
      [newId(), name, events],
    );
  const channels = () =>
    dataSource.query(`select name, events from notification_channels order by name`);

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
    await migrate(database.url, upTo(0));
    dataSource = await createDataSource(schema, { connectionString: database.url }).initialize();
  });
  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  it('gives the new event to those that wanted everything, and takes it back', async () => {
    const some = { name: 'some', events: BEFORE.slice(1) };
    await channel('all', BEFORE);
    await channel('some', some.events);
    await migrate(database.url, upTo(1));
    expect(await channels()).toEqual([{ name: 'all', events: [...BEFORE, NEW] }, some]);

    await channel('that alone', [NEW]);
    const runner = dataSource.createQueryRunner();
    await new Reopened1795003300000().down(runner);
    await runner.release();
    const alone = { name: 'that alone', events: [NEW] };
    expect(await channels()).toEqual([{ name: 'all', events: BEFORE }, some, alone]);
  });
});
