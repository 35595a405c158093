import type { DataSource } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { Recoveries1795003000000 } from '../../src/platform/database/migrations/1795003000000-recoveries.js';
import { migrate } from '../../src/platform/database/open-database.js';
import { newId } from '../../src/platform/ids.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** What a channel could choose then; what came later is not the business of this migration. */
const BEFORE = [
  ...['incident.created', 'incident.triaged', 'incident.resolved', 'triage.failed'],
  ...['action.pending_approval', 'action.completed', 'action.failed', 'action.rejected'],
  ...['kill_switch.activated', 'kill_switch.deactivated', 'connector.unhealthy'],
];

describe('the migration that lets recoveries be told', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
    await migrate(database.url, upTo(0));
    dataSource = await createDataSource(schema, { connectionString: database.url }).initialize();
  });
  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  const upTo = (more: number) => {
    const last = schema.migrations.indexOf(Recoveries1795003000000) + more;
    return { ...schema, migrations: schema.migrations.slice(0, last) };
  };
  const channel = (name: string, events: readonly string[], unhealthySince: Date | null) =>
    dataSource.query(
      `insert into notification_channels
         (id, name, type, enabled, events, min_severity, config, created_by, failures, failing_since, unhealthy_since)
       values ($1, $2, 'webhook', true, $3, 'low', '{}', 'alice', $4, $5, $5)`,
      [newId(), name, events, unhealthySince ? 3 : 0, unhealthySince],
    );
  const connector = (name: string, health: string | null, enabled = true) =>
    dataSource.query(
      `insert into connectors (id, name, type, enabled, priority, config, health, last_checked_at)
       values ($1, $2, 'http', $4, 100, '{}', $3, '2026-01-31T09:00:00Z')`,
      [newId(), name, health, enabled],
    );

  it('knows what was told before, and gives the new event to those that wanted everything', async () => {
    const at = new Date('2026-01-31T09:30:00Z');
    await channel('all', BEFORE, at);
    await channel('some', BEFORE.slice(1), null);
    await connector('broken', 'unhealthy');
    await connector('broken, and disabled', 'unhealthy', false);
    await connector('well', 'healthy');
    await connector('new', null);
    await migrate(database.url, upTo(1));
    const channels = `select name, events, unhealthy_told_at from notification_channels order by name`;
    expect(await dataSource.query(channels)).toEqual([
      { name: 'all', events: [...BEFORE, 'connector.recovered'], unhealthy_told_at: at },
      { name: 'some', events: BEFORE.slice(1), unhealthy_told_at: null },
    ]);
    const told = `select name, unhealthy_told_at from connectors where unhealthy_told_at is not null`;
    expect(await dataSource.query(told)).toEqual([
      { name: 'broken', unhealthy_told_at: new Date('2026-01-31T09:00:00Z') },
    ]);
    const runner = dataSource.createQueryRunner();
    await new Recoveries1795003000000().down(runner);
    await runner.release();
    const events = `select events from notification_channels order by name`;
    expect(await dataSource.query(events)).toEqual([
      { events: BEFORE },
      { events: BEFORE.slice(1) },
    ]);
  });
});
