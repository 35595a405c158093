import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { verifyBackup } from '../../src/platform/database/backup/read-backup.js';
import { restoreBackup } from '../../src/platform/database/backup/restore-backup.js';
import { writeBackup } from '../../src/platform/database/backup/write-backup.js';
import type { Schema } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/open-database.js';
import { query as queryAt } from '../support/embedded/query.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const PLAN = {
  excludedTables: [],
  keyIds: () => Promise.resolve([]),
  signerOf: () => undefined,
  readableToAll: () => Promise.resolve(true),
  remember: () => Promise.resolve(),
  rebuild: () => Promise.resolve(),
};

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

describe('A restore with a schema other than that of the backup', () => {
  let source: TestDatabase;
  let target: TestDatabase;
  let folder: string;
  let file: string;

  const query = ({ url }: TestDatabase, text: string) => queryAt(url, text);
  const restore = async (schema: Schema) =>
    restoreBackup({
      url: target.url,
      file,
      backup: await verifyBackup(file),
      schema,
      plan: PLAN,
      force: true,
    });

  beforeEach(async () => {
    source = await createTestDatabase({ empty: true });
    target = await createTestDatabase({ empty: true });
    folder = mkdtempSync(join(tmpdir(), 'its-migrations-'));
    file = join(folder, 'a.backup');
    await migrate(source.url, EARLIER);
    await query(source, `insert into hosts values ('web-1')`);
  });
  afterEach(async () => {
    await source.drop();
    await target.drop();
    rmSync(folder, { recursive: true });
  });

  it('takes back the migrations of the database before it loads the rows', async () => {
    await writeBackup({ url: source.url, file, plan: PLAN });
    await migrate(target.url, LATER);
    await query(target, `insert into hosts values ('replaced', 'somebody')`);
    await query(target, 'create table of_another_owner (id int)');
    await restore(LATER);
    expect(await query(target, 'select * from hosts')).toEqual([
      { name: 'web-1', owner: 'of web-1' },
    ]);
    expect(await query(target, 'select * from of_another_owner')).toEqual([]);
  });

  it('refuses a backup with a migration that this release does not know, and changes nothing', async () => {
    await migrate(source.url, LATER);
    await writeBackup({ url: source.url, file, plan: PLAN });
    await migrate(target.url, EARLIER);
    await query(target, `insert into hosts values ('kept')`);
    await expect(restore(EARLIER)).rejects.toThrow(/newer release: .*Owners2000000000002/);
    expect(await query(target, 'select * from hosts')).toEqual([{ name: 'kept' }]);
  });
});
