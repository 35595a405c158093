import { Client } from 'pg';
import { openDatabase } from '../../src/app.database.js';
import { schema } from '../../src/app.schema.js';
import { loadSettings } from '../../src/platform/config/settings.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { reachServer } from '../../src/platform/database/reach-server.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { TEST_SETTINGS } from '../support/test-app.js';
import { asServiceRole, createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('a start on an unsuitable database', () => {
  let database: TestDatabase;
  let client: Client;

  beforeEach(async () => {
    database = await createTestDatabase({ empty: true });
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    await ServiceProcess.endAll();
    await client.end();
    await database.drop();
  });

  /** An owner without its privileges behaves like a role that never had these privileges. */
  const withoutTables = () =>
    client.query('revoke create on schema public from pg_database_owner, public');
  const withoutSchemas = () => {
    const name = new URL(database.url).pathname.slice(1);
    return client.query(`revoke create on database ${name} from current_user`);
  };

  async function tables(): Promise<number> {
    const { rows } = await client.query<{ tables: number }>(
      `select count(*)::int as tables from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    return rows[0]!.tables;
  }

  async function expectRefusal(words: RegExp): Promise<void> {
    const before = await tables();
    await expect(migrate(database.url, schema)).rejects.toThrow(words);
    expect(await tables()).toBe(before);
  }

  it('fails in one line if a newer release changed the schema', async () => {
    await migrate(database.url, schema);
    await client.query(
      `insert into schema_migrations (timestamp, name) values (9999999999999, 'Later9999999999999')`,
    );
    await expectRefusal(/belongs to a newer release.*Later9999999999999/);
    const service = new ServiceProcess({ settings: { DATABASE_URL: database.url } });
    expect((await service.exited).code).toBe(1);
    expect(service.lines.filter((line) => line.includes('newer release'))).toEqual([
      expect.stringMatching(/^Not started: The database belongs to a newer release: .*backup/),
    ]);
  });

  it('leaves no connection open if the role lacks privileges', async () => {
    await migrate(database.url, schema);
    const DATABASE_URL = asServiceRole(database.url);
    const settings = loadSettings({ ...TEST_SETTINGS, DATABASE_URL });
    const silent = () => undefined;
    await expect(
      openDatabase(await reachServer(settings, silent), settings, silent),
    ).rejects.toThrow(/^PostgreSQL at .*: permission denied for table schema_migrations$/);
    const others =
      'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
    await eventually(async () => (await client.query(others)).rowCount === 0);
  });

  it('accepts a role that may not create tables if the schema is complete', async () => {
    await migrate(database.url, schema);
    await withoutTables();
    await withoutSchemas();
    await expect(migrate(database.url, schema)).resolves.toBeUndefined();
  });
});
