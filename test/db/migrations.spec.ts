import { schema } from '../../src/app.schema.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { query } from '../support/embedded/query.js';
import { createTestDatabase } from '../support/test-database.js';

async function withEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const database = await createTestDatabase({ empty: true });
  try {
    await work(database.url);
  } finally {
    await database.drop();
  }
}

const applied = async (url: string): Promise<string[]> =>
  (await query<{ name: string }>(url, 'select name from schema_migrations order by id')).map(
    ({ name }) => name,
  );
const expected = schema.migrations.map((migration) => new migration().name);

describe('migrations', () => {
  it('are applied once if many processes start together on an empty database', () =>
    withEmptyDatabase(async (url) => {
      await Promise.all(Array.from({ length: 6 }, () => migrate(url, schema)));
      expect(await applied(url)).toEqual(expected);
      await migrate(url, schema);
      expect(await applied(url)).toEqual(expected);
    }));

  it('can be reverted and applied again', () =>
    withEmptyDatabase(async (url) => {
      await migrate(url, schema);
      const dataSource = await createDataSource(schema, { connectionString: url }).initialize();
      try {
        for (let left = schema.migrations.length; left > 0; left -= 1)
          await dataSource.undoLastMigration({ transaction: 'each' });
      } finally {
        await dataSource.destroy();
      }
      const left = await query(
        url,
        `select relname as name from pg_class where relnamespace = 'public'::regnamespace
           and relkind in ('r', 'v', 'm', 'S') and relname not like 'schema_migrations%'
         union all select proname from pg_proc where pronamespace = 'public'::regnamespace
         union all select typname from pg_type where typnamespace = 'public'::regnamespace and typtype = 'e'`,
      );
      expect(left).toEqual([]);
      await migrate(url, schema);
      expect(await applied(url)).toEqual(expected);
    }));

  it('roll back a failed migration, and continue with it at the next start', () =>
    withEmptyDatabase(async (url) => {
      class Broken9999999999999 {
        readonly name = 'Broken9999999999999';
        async up(runner: { query(text: string): Promise<unknown> }): Promise<void> {
          await runner.query('create table half (id int)');
          await runner.query('create table half (id int)');
        }
        async down(): Promise<void> {
          return undefined;
        }
      }
      const broken = { ...schema, migrations: [...schema.migrations, Broken9999999999999] };
      const log = jest.spyOn(console, 'log').mockImplementation();
      await expect(migrate(url, broken)).rejects.toThrow(/already exists/);
      log.mockRestore();
      expect(await query(url, `select 1 from pg_class where relname = 'half'`)).toEqual([]);
      expect(await applied(url)).toEqual(expected);
    }));
});
