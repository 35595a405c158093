import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import {
  lockTables,
  readBackup,
  type Restore,
  restoreBackup,
  writeBackup,
} from '../../src/platform/database/backup.js';
import { createDataSource, type Schema } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { foldDeltas, listEvents } from './webhook-events-harness.js';
import { query as queryAt } from '../support/embedded/query.js';
import { eventually } from '../support/jobs/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const WHOLE = { schema, excludedTables: [], keyIds: () => Promise.resolve([]) };

const onlyLoad = (_: unknown, { load }: Restore) => load();

const WAITING = `select from pg_locks l join pg_database d on d.oid = l.database
  where d.datname = current_database() and not l.granted`;

const OTHER_SESSIONS =
  'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';

describe('rows during a restore', () => {
  let database: TestDatabase;
  let folder: string;
  const clients: Client[] = [];

  const connect = async (): Promise<Client> => {
    const client = new Client(database.url);
    clients.push(client);
    await client.connect();
    return client;
  };
  const record = (by: Client, name: string) =>
    by.query(`insert into work_lanes (lane, types) values ('${name}', '{}')`);

  beforeEach(async () => {
    database = await createTestDatabase();
    folder = mkdtempSync(join(tmpdir(), 'its-rows-'));
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()));
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it('stay unchanged if the backup file is replaced after its check', async () => {
    const file = join(folder, 'a.backup');
    const one = await connect();
    await record(one, 'kept');
    await writeBackup({ ...WHOLE, url: database.url, file });
    const manifest = await readBackup(file);
    await record(one, 'made later');
    await writeBackup({ ...WHOLE, url: database.url, file, force: true });
    await one.query('delete from work_lanes');
    await expect(
      restoreBackup({ url: database.url, file, manifest, schema, force: true }, onlyLoad),
    ).rejects.toThrow('changed during the restore');
    expect((await one.query('select from work_lanes')).rowCount).toBe(0);
  });

  it('have unique numbers, even after two restores', async () => {
    const file = join(folder, 'a.backup');
    const { url } = database;
    const one = await connect();
    await one.query('create sequence tickets');
    const next = async () =>
      Number((await one.query<{ n: string }>(`select nextval('tickets') as n`)).rows[0]!.n);
    const given = [await next()];
    for (let round = 0; round < 2; round += 1) {
      await writeBackup({ ...WHOLE, url, file, force: true });
      given.push(await next());
      const manifest = await readBackup(file);
      await restoreBackup({ url, file, manifest, schema, force: true }, onlyLoad);
      given.push(await next());
    }
    expect(given).toEqual([1, 2, 3, 4, 5]);
  });

  it('keep the exact totals of webhook events, before and after count changes are added to the totals', async () => {
    const file = join(folder, 'a.backup');
    const one = await connect();
    const insert = (source: string, count: number) =>
      one.query(
        `insert into webhook_events (id, source, status, body_hash, received_at)
         select gen_random_uuid(), $1, 'processed', sha256(i::text::bytea), now() from generate_series(1, $2::integer) as i`,
        [source, count],
      );
    const dataSource = await createDataSource(schema, {
      connectionString: database.url,
    }).initialize();
    try {
      const totalOf = async (source?: string[]) => {
        const request = { source, sort: '-created_at', page: 1, per_page: 1 } as const;
        return (await listEvents(dataSource, request)).total;
      };
      await insert('edr', 5);
      await foldDeltas(dataSource);
      await insert('gateway', 3);
      const { url } = database;
      await writeBackup({ ...WHOLE, url, file, excludedTables: ['sessions'] });
      await insert('gateway', 2);
      await one.query(`delete from webhook_events where source = 'edr'`);
      await foldDeltas(dataSource);

      const manifest = await readBackup(file);
      await restoreBackup({ url, file, manifest, schema, force: true }, onlyLoad);
      for (const folded of [false, true]) {
        if (folded) await foldDeltas(dataSource);
        expect([await totalOf(), await totalOf(['edr']), await totalOf(['gateway'])]).toEqual([
          8, 5, 3,
        ]);
      }
      await insert('edr', 1);
      expect(await totalOf(['edr'])).toBe(6);
    } finally {
      await dataSource.destroy();
    }
  });

  it('are locked without a deadlock with a transaction that uses two tables', async () => {
    const [one, restore, watcher] = [await connect(), await connect(), await connect()];
    await one.query('begin');
    await one.query('select from users');
    await restore.query('begin');
    const locked = lockTables(restore, ['incidents', 'users']);
    await eventually(
      async () => (await watcher.query(WAITING)).rowCount,
      (waiting) => waiting === 1,
    );
    await one.query('select from incidents');
    await one.query('commit');
    await locked;
    const { rowCount } = await watcher.query(
      `select from pg_locks where granted and mode = 'AccessExclusiveLock'
        and relation in ('incidents'::regclass, 'users'::regclass)`,
    );
    expect(rowCount).toBe(2);
  });
});

class Hosts2000000000001 implements MigrationInterface {
  readonly name = 'Hosts2000000000001';
  up = (runner: QueryRunner) => runner.query('create table hosts (name text primary key)');
  down = (runner: QueryRunner) => runner.query('drop table hosts');
}

class Owners2000000000002 implements MigrationInterface {
  readonly name = 'Owners2000000000002';
  up = (runner: QueryRunner) =>
    runner.query(`alter table hosts add column owner text; update hosts set owner = 'of ' || name`);
  down = (runner: QueryRunner) => runner.query('alter table hosts drop column owner');
}

const schemaOf = (...migrations: Schema['migrations']): Schema => ({ entities: [], migrations });
const EARLIER = schemaOf(Hosts2000000000001);
const LATER = schemaOf(Hosts2000000000001, Owners2000000000002);

describe('A restore of a backup with another schema', () => {
  let source: TestDatabase;
  let target: TestDatabase;
  let folder: string;
  let file: string;

  const query = ({ url }: TestDatabase, text: string) => queryAt(url, text);
  const restore = async (schema: Schema) =>
    restoreBackup(
      { url: target.url, file, manifest: await readBackup(file), schema, force: true },
      onlyLoad,
    );

  beforeEach(async () => {
    source = await createTestDatabase({ empty: true });
    target = await createTestDatabase({ empty: true });
    folder = mkdtempSync(join(tmpdir(), 'its-migrations-'));
    file = join(folder, 'a.backup');
  });
  afterEach(async () => {
    await source.drop();
    await target.drop();
    rmSync(folder, { recursive: true });
  });

  it('migrates an older schema before it loads the rows', async () => {
    await migrate(source.url, LATER);
    await query(source, `insert into hosts values ('web-1', 'somebody')`);
    await writeBackup({ ...WHOLE, url: source.url, file });
    await migrate(target.url, EARLIER);
    await query(target, `insert into hosts values ('replaced')`);
    await eventually(async () => (await query(target, OTHER_SESSIONS)).length === 0);
    await restore(LATER);
    expect(await query(target, 'select * from hosts')).toEqual([
      { name: 'web-1', owner: 'somebody' },
    ]);
  });

  it.each([
    ['older', EARLIER, LATER],
    ['newer', LATER, EARLIER],
  ])('rejects a backup of an %s schema, and changes nothing', async (_, ofBackup, ofRelease) => {
    await migrate(source.url, ofBackup);
    await writeBackup({ ...WHOLE, url: source.url, file });
    await migrate(target.url, ofRelease);
    await query(target, `insert into hosts values ('kept')`);
    await expect(restore(ofRelease)).rejects.toThrow(/another schema.*Restore it with release/);
    expect(await query(target, 'select name from hosts')).toEqual([{ name: 'kept' }]);
  });
});
