import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline as connect } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { ClientBase } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { type EntityManager, MigrationExecutor } from 'typeorm';
import { presentTime } from '../clock.js';
import { version } from '../config/process.js';
import { linesOf, syncFolder } from '../files.js';
import { AdvisoryLock } from './advisory-locks.js';
import { COMMAND, patientConnection, SERVICE } from './connection.js';
import {
  createDataSource,
  followDatabaseTime,
  MIGRATIONS_TABLE,
  type Schema,
} from './data-source.js';
import { readAppliedMigrations, requireKnownMigrations } from './migrate.js';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';
import { Transactions, type Tx } from './transactions.js';

const FORMAT = 1;

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

/** First line of a backup, which is a gzip file. The COPY text of each table follows and ends with the line `\.`. */
export interface Manifest {
  readonly format: number;
  readonly version: string;
  readonly created_at: string;
  readonly migrations: readonly string[];
  readonly key_ids: readonly string[];
  readonly tables: readonly Table[];
  readonly sequences: readonly { readonly name: string; readonly last: string }[];
}

interface BackupOptions {
  readonly url: string;
  readonly schema: Schema;
  readonly file: string;
  readonly excludedTables: readonly string[];
  /** Returns the ids of the keys that the contents of the backup need. Throws if the backup would be unusable. */
  readonly keyIds: (manager: EntityManager) => Promise<readonly string[]>;
  readonly force?: boolean;
}

/** The service keeps writing during the backup. The file appears only when it is complete and synced. */
export async function writeBackup(
  options: BackupOptions,
): Promise<{ readonly manifest: Manifest; readonly rows: number }> {
  const { url, schema, file, force } = options;
  if (!force && existsSync(file)) {
    throw new Error(`${file} already exists. Choose another file, or use --force to replace it.`);
  }
  const draft = `${file}.${randomBytes(4).toString('hex')}.part`;
  const dataSource = await createDataSource(schema, patientConnection(url, COMMAND)).initialize();
  try {
    return await new Transactions(dataSource).snapshot(async (manager) => {
      const client = (await manager.queryRunner!.connect()) as ClientBase;
      const manifest = await manifestOf(manager, options);
      let rows = 0;
      async function* content(): AsyncGenerator<Buffer | string> {
        yield `${JSON.stringify(manifest)}\n`;
        for (const table of manifest.tables) {
          const copy = client.query(copyTo(`copy ${copyTarget(client, table)} to stdout`));
          yield* copy as AsyncIterable<Buffer>;
          yield '\\.\n';
          rows += copy.rowCount;
        }
      }
      const output = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
      await pipeline(content, createGzip(), output);
      await rename(draft, file);
      syncFolder(dirname(file));
      return { manifest, rows };
    });
  } finally {
    await rm(draft, { force: true });
    await dataSource.destroy();
  }
}

async function manifestOf(
  manager: EntityManager,
  { keyIds, excludedTables }: BackupOptions,
): Promise<Manifest> {
  const migrations = await readAppliedMigrations(manager);
  if (migrations.length === 0) {
    throw new Error('The database is empty: there is nothing to back up.');
  }
  const tables = await listTables(manager);
  return {
    format: FORMAT,
    version,
    created_at: new Date(presentTime()).toISOString(),
    migrations,
    key_ids: await keyIds(manager),
    tables: tables.filter(({ name }) => !excludedTables.includes(name)),
    sequences: await manager.query<Manifest['sequences']>(SEQUENCES),
  };
}

/** `receive` must read all rows. It may get damaged rows before the error, because gzip ends with its checksum. */
export async function readBackup(
  file: string,
  receive?: (table: Table, rows: AsyncIterable<Buffer>) => Promise<void>,
): Promise<Manifest> {
  // Each character of a line stands for one byte. An error of the pipeline is thrown while the lines are read.
  const unpacked = connect(createReadStream(file), createGunzip(), () => undefined);
  const lines = linesOf(unpacked.setEncoding('latin1'));
  try {
    const { value: first = '' } = await lines.next();
    const manifest = JSON.parse(Buffer.from(first, 'latin1').toString()) as Manifest;
    if (manifest.format !== FORMAT) throw new Error('this release does not read its format');
    if (!receive) return manifest;
    for (const table of manifest.tables) await receive(table, rowsOf(lines));
    if (!(await lines.next()).done) throw new Error('it has data after its end');
    return manifest;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'ENOENT'
        ? `The file ${file} does not exist.`
        : `${file} cannot be restored, and nothing was changed: ${message}.`,
      { cause: error },
    );
  } finally {
    await lines.return(undefined);
  }
}

/** A row is never the line `\.`, because COPY doubles each backslash in a value. */
const END_OF_TABLE = '\\.';
const ROWS_PER_CHUNK = 1_000;

async function* rowsOf(lines: AsyncIterator<string, undefined>): AsyncGenerator<Buffer> {
  for (let isOver = false; !isOver;) {
    let rows = '';
    for (let count = 0; count < ROWS_PER_CHUNK && !isOver; count += 1) {
      const { value: line } = await lines.next();
      if (line === undefined) throw new Error('its end is missing');
      isOver = line === END_OF_TABLE;
      if (!isOver) rows += `${line}\n`;
    }
    yield Buffer.from(rows, 'latin1');
  }
}

/** All relations of the service are in one schema. Their owner is the owner of the migrations table. */
const OWNER = `(select relowner from pg_class where oid = to_regclass('${MIGRATIONS_TABLE}'))`;

/** Returns the tables with their stored columns. Referenced tables come first. */
async function listTables(manager: EntityManager): Promise<Table[]> {
  const rows = await manager.query<(Table & { references: string[] })[]>(`
    select c.relname as name,
      array(select attname::text from pg_attribute
             where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
             order by attnum) as columns,
      array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
             where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as references
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relowner = ${OWNER}
      and c.relkind = 'r' and c.relname <> '${MIGRATIONS_TABLE}'
    order by c.relname`);
  const placed: Table[] = [];
  const waiting = new Map(rows.map((row) => [row.name, row]));
  const place = (name: string): void => {
    const row = waiting.get(name);
    if (!row) return;
    waiting.delete(name);
    row.references.forEach(place);
    placed.push({ name, columns: row.columns });
  };
  rows.forEach(({ name }) => place(name));
  return placed;
}

/** Last value of each sequence, or the start value if unused. Omits the sequence of the migrations table. */
const SEQUENCES = `
  select sequencename::text as name, coalesce(last_value, start_value)::text as last
    from pg_sequences
   where schemaname = current_schema() and sequenceowner = (select rolname from pg_roles where oid = ${OWNER})
     and sequencename not like '${MIGRATIONS_TABLE}%'`;

function copyTarget(client: ClientBase, { name, columns }: Table): string {
  return `${client.escapeIdentifier(name)} (${columns.map((column) => client.escapeIdentifier(column)).join(', ')})`;
}

interface RestoreOptions {
  readonly url: string;
  readonly file: string;
  readonly manifest: Manifest;
  readonly schema: Schema;
  readonly force?: boolean;
}

export interface Restore {
  readonly inUse: boolean;
  readonly load: () => Promise<number>;
}

/**
 * Replaces all rows in one transaction. An empty or older database is migrated first.
 * @param around calls `load`. Before, it reads the data that must survive; afterwards, it writes this data back.
 */
export async function restoreBackup<T>(
  options: RestoreOptions,
  around: (tx: Tx, restore: Restore) => Promise<T>,
): Promise<T> {
  const { url, schema, manifest } = options;
  requireSameSchema(manifest, schema);
  const dataSource = await createDataSource(schema, patientConnection(url, COMMAND)).initialize();
  try {
    await followDatabaseTime(dataSource);
    return await new Transactions(dataSource).run(async (tx) => {
      const client = (await tx.queryRunner!.connect()) as ClientBase;
      const inUse = await prepare(tx, options);
      const tables = (await listTables(tx)).map(({ name }) => name);
      await lockTables(client, tables);
      return await around(tx, { inUse, load: () => load(client, options, tables) });
    });
  } finally {
    await dataSource.destroy();
  }
}

/** Checks and migrates the database. Returns true if the service is connected. */
async function prepare(tx: Tx, { schema, force }: RestoreOptions): Promise<boolean> {
  // A service that starts now waits for this lock.
  await tx.query(`select pg_advisory_xact_lock(${AdvisoryLock.Migration})`);
  const applied = await readAppliedMigrations(tx);
  requireKnownMigrations(applied, schema);
  if (!force && (await isUsed(tx))) {
    throw new Error(
      'The database is not empty. Restore into a new database, or use --force to replace all its contents.',
    );
  }
  const inUse = await isServiceConnected(tx);
  if (applied.length < schema.migrations.length) {
    if (inUse) throw inUseError('has another schema than the database');
    const executor = new MigrationExecutor(tx.dataSource, tx.queryRunner);
    executor.transaction = 'all';
    await executor.executePendingMigrations();
  }
  return inUse;
}

/** Every change writes an audit record, so a database without audit records was never used. */
async function isUsed(tx: Tx): Promise<boolean> {
  if (!(await tx.queryRunner!.hasTable('audit_log'))) return false;
  return (await tx.query<unknown[]>('select from audit_log limit 1')).length > 0;
}

async function isServiceConnected(tx: Tx): Promise<boolean> {
  const found = await tx.query<unknown[]>(
    `select from pg_stat_activity
      where datname = current_database() and application_name = '${SERVICE}'`,
  );
  return found.length > 0;
}

export function inUseError(why: string): Error {
  return new Error(
    `The service is connected to this database, and the backup ${why}. Stop all replicas, restore, and start them again.`,
  );
}

function requireSameSchema({ migrations, version }: Manifest, { migrations: own }: Schema): void {
  const names = own.map((migration) => new migration().name);
  if (migrations.length === names.length && migrations.every((name) => names.includes(name)))
    return;
  throw new Error(
    `The backup has another schema than this release. Restore it with release ${version}, which made it, and then upgrade.`,
  );
}

/** The triggers are off, because they would count the rows, change their times or reject them. */
async function load(
  client: ClientBase,
  { file, manifest }: RestoreOptions,
  tables: readonly string[],
): Promise<number> {
  const names = tables.map((name) => client.escapeIdentifier(name));
  for (const name of names) await client.query(`alter table ${name} disable trigger user`);
  // Uses `delete`, not `truncate`, so that transactions that are already reading keep their snapshot.
  for (const name of names.toReversed()) await client.query(`delete from ${name}`);
  let rows = 0;
  const loaded = await readBackup(file, async (table, content) => {
    const copy = client.query(copyFrom(`copy ${copyTarget(client, table)} from stdin`));
    await pipeline(content, copy);
    rows += copy.rowCount;
  });
  if (JSON.stringify(loaded) !== JSON.stringify(manifest)) {
    throw new Error(`${file} changed during the restore. The database was not changed.`);
  }
  // Prevents a sequence from returning a used number again.
  await client.query(
    `select setval(format('%I', name)::regclass, greatest(now.last::bigint, saved.last))
       from (${SEQUENCES}) as now join json_to_recordset($1) as saved (name text, last bigint) using (name)`,
    [JSON.stringify(loaded.sequences)],
  );
  for (const name of names) await client.query(`alter table ${name} enable trigger user`);
  return rows;
}

/** Shorter than the deadlock timeout of PostgreSQL (1 s), after which PostgreSQL would abort another transaction. */
const WAIT_MS = 700;
const PAUSE_MS = 300;
const PATIENCE_MS = 60_000;

/** Each attempt is short, because another transaction may hold one table and wait for a second table. */
export async function lockTables(client: ClientBase, tables: readonly string[]): Promise<void> {
  const names = tables.map((name) => client.escapeIdentifier(name)).join(', ');
  await client.query(`set local lock_timeout = ${WAIT_MS}`);
  await client.query('savepoint before_locks');
  for (const giveUpAt = performance.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    try {
      await client.query(`lock table ${names} in access exclusive mode`);
      await client.query('set local lock_timeout = default');
      return;
    } catch (error) {
      if (sqlStateOf(error) !== SQLSTATE.lockNotAvailable) throw error;
      await client.query('rollback to savepoint before_locks');
      if (performance.now() > giveUpAt) {
        throw new Error(
          'Nothing was changed: the tables were in use for a minute. End the longest session of pg_stat_activity, or try again later.',
          { cause: error },
        );
      }
    }
  }
}
