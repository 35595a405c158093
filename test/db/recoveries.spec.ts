import type { DataSource } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { Notifications1795002500000 } from '../../src/platform/database/migrations/1795002500000-notifications.js';
import { migrate } from '../../src/platform/database/open-database.js';
import { newId } from '../../src/platform/ids.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('the migration of notifications', () => {
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
    const last = schema.migrations.indexOf(Notifications1795002500000) + more;
    return { ...schema, migrations: schema.migrations.slice(0, last) };
  };
  const connector = (name: string, health: string | null, enabled = true) =>
    dataSource.query(
      `insert into connectors (id, name, type, enabled, priority, config, health, last_checked_at)
       values ($1, $2, 'http', $4, 100, '{}', $3, '2026-01-31T09:00:00Z')`,
      [newId(), name, health, enabled],
    );

  it('takes connectors that are broken already for told, so that people hear when they work again', async () => {
    await connector('broken', 'unhealthy');
    await connector('broken, and disabled', 'unhealthy', false);
    await connector('well', 'healthy');
    await connector('new', null);
    await migrate(database.url, upTo(1));
    const told = `select name, unhealthy_told_at from connectors where unhealthy_told_at is not null`;
    expect(await dataSource.query(told)).toEqual([
      { name: 'broken', unhealthy_told_at: new Date('2026-01-31T09:00:00Z') },
    ]);
  });
});
