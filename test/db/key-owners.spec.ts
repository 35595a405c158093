import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import { newId } from '../../src/platform/ids.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/open-database.js';
import { KeyOwners1795001100000 } from '../../src/platform/database/migrations/1795001100000-key-owners.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('the migration that gives existing keys their owners', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
    const before = schema.migrations.slice(0, schema.migrations.indexOf(KeyOwners1795001100000));
    await migrate(database.url, { ...schema, migrations: before });
    dataSource = await createDataSource(schema, { connectionString: database.url }).initialize();
  });
  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  it('takes the user who created a key for its owner, also through other keys', async () => {
    const user = (username: string, deleted: boolean) =>
      dataSource.query(
        `insert into users (id, username, role, password_hash, enabled, deleted_at)
         values ($1, $2, 'admin', $3, $4, $5)`,
        [newId(), username, deleted ? null : 'hash', !deleted, deleted ? new Date() : null],
      );
    const key = (name: string, createdBy: string, n: number) =>
      dataSource.query(
        `insert into api_keys (id, name, role, prefix, secret_hash, created_by)
         values ($1, $2, 'admin', $3, $4, $5)`,
        [newId(), name, `prefix0${n}`, randomBytes(32), createdBy],
      );
    await user('ada', false);
    await user('gone', true);
    await key('bootstrap-admin', 'system', 1);
    await key('of-the-first', 'key:bootstrap-admin', 2);
    await key('one', 'ada', 3);
    await key('two', 'key:one', 4);
    await key('three', 'key:two', 5);
    await key('left-behind', 'gone', 6);
    await key('ada', 'key:ada', 7);
    await migrate(database.url, schema);
    const rows = await dataSource.query<{ name: string; owner: string | null }[]>(
      `select k.name, u.username as owner from api_keys k left join users u on u.id = k.owner_id`,
    );
    expect(Object.fromEntries(rows.map(({ name, owner }) => [name, owner]))).toEqual({
      'bootstrap-admin': null,
      'of-the-first': null,
      one: 'ada',
      two: 'ada',
      three: 'ada',
      'left-behind': 'gone',
      // A key may have the name of a user, and is another principal.
      ada: null,
    });
  });
});
