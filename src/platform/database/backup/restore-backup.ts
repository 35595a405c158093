import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { MigrationExecutor } from 'typeorm';
import { AdvisoryLock } from '../advisory-locks.js';
import { COMMAND, patientConnection, SERVICE } from '../connection.js';
import { createDataSource, followDatabaseTime, type Schema } from '../data-source.js';
import { readAppliedMigrations, requireKnownMigrations } from '../migrate.js';
import { SQLSTATE, sqlStateOf } from '../sqlstate.js';
import { Transactions, type Tx } from '../transactions.js';
import { copyTarget, listTables, type Manifest, readBackup, SEQUENCES } from './backup-file.js';

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
