import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type DataSource, MigrationExecutor } from 'typeorm';
import { AdvisoryLock } from '../advisory-locks.js';
import { commandConnection } from '../connection.js';
import { createDataSource, MIGRATIONS_TABLE, type Schema } from '../data-source.js';
import { followDatabaseTime } from '../open-database.js';
import { lastUnknown } from '../schema-checks.js';
import { SQLSTATE, sqlStateOf } from '../sqlstate.js';
import { Transactions, type Tx } from '../transactions.js';
import {
  appliedMigrations,
  type Backup,
  BackupError,
  copyTarget,
  listTables,
  type Manifest,
  readBackup,
  SEQUENCES,
} from './backup-file.js';

export interface RestorePlan {
  /** True if every process that uses the current database has the keys of the backup. */
  readableToAll(tx: Tx): Promise<boolean>;
  /** Saves the parts of the current database that must survive the restore. `inUse`: the service keeps running. */
  remember(tx: Tx, inUse: boolean): Promise<void>;
  /** Writes the saved parts back and recomputes derived rows, in the same transaction. */
  rebuild(tx: Tx): Promise<void>;
}

interface RestoreOptions {
  readonly url: string;
  readonly file: string;
  readonly backup: Backup;
  readonly schema: Schema;
  readonly plan: RestorePlan;
  readonly force?: boolean;
}

/** Replaces all rows in one transaction. An empty or older database is migrated first. */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { url, schema, backup } = options;
  requireSameSchema(backup.manifest, schema);
  const dataSource = await createDataSource(schema, commandConnection(url)).initialize();
  try {
    await followDatabaseTime(dataSource);
    await new Transactions(dataSource).run((tx) => restore(tx, dataSource, options));
  } finally {
    await dataSource.destroy();
  }
}

async function restore(tx: Tx, dataSource: DataSource, options: RestoreOptions): Promise<void> {
  const { plan, schema, force } = options;
  const client = (await tx.queryRunner!.connect()) as ClientBase;
  await requireOwner(client);
  // A service that starts now waits for this lock.
  await client.query(`select pg_advisory_xact_lock(${AdvisoryLock.Migration})`);
  const applied = await appliedMigrations(client);
  const newer = lastUnknown(applied, schema);
  if (newer !== undefined) {
    throw new BackupError(
      `The database belongs to a newer release: this release does not know the migration ${newer}. Use that release or a newer one.`,
    );
  }
  if (!force && (await isUsed(client))) {
    throw new BackupError(
      'The database is not empty. Restore into a new database, or use --force to replace all its contents.',
    );
  }
  const inUse = await isServiceConnected(client);
  if (applied.length < schema.migrations.length) {
    if (inUse) refuse('has another schema than the database');
    const executor = new MigrationExecutor(dataSource, tx.queryRunner);
    executor.transaction = 'all';
    await executor.executePendingMigrations();
  } else if (inUse && !(await plan.readableToAll(tx))) refuse('was made with other keys');
  const tables = (await listTables(client)).map(({ name }) => name);
  // Concurrent reads and writes wait, and then see the restored rows.
  await lockTables(client, tables);
  await plan.remember(tx, inUse);
  await load(client, options, tables);
  await plan.rebuild(tx);
}

/** Only the owner of the tables may disable triggers and create tables. */
async function requireOwner(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ role: string; may: boolean }>(
    `select current_user as role, coalesce(
         (select pg_has_role(relowner, 'USAGE') from pg_class where oid = to_regclass('${MIGRATIONS_TABLE}')),
         has_schema_privilege(current_schema(), 'CREATE'), false) as may`,
  );
  if (rows[0]!.may) return;
  throw new BackupError(
    `The role "${rows[0]!.role}" does not own the tables. Nothing was changed. Set MIGRATION_DATABASE_URL to the owner, in addition to DATABASE_URL.`,
  );
}

/** Every change writes an audit record, so a database without audit records was never used. */
async function isUsed(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('audit_log') is not null as exists`,
  );
  return rows[0]!.exists && (await client.query('select from audit_log limit 1')).rowCount !== 0;
}

async function isServiceConnected(client: ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_stat_activity
      where datname = current_database() and application_name = 'incident-triage-service'`,
  );
  return rowCount !== 0;
}

function refuse(why: string): never {
  throw new BackupError(
    `The service is connected to this database, and the backup ${why}. Stop all replicas, restore, and start them again.`,
  );
}

/** Rejects a backup of another schema, because its rows do not fit into the tables. */
function requireSameSchema({ migrations, version }: Manifest, { migrations: own }: Schema): void {
  const names = own.map((migration) => new migration().name);
  if (migrations.length === names.length && migrations.every((name) => names.includes(name)))
    return;
  throw new BackupError(
    `The backup has another schema than this release. Restore it with release ${version}, which made it, and then upgrade.`,
  );
}

/** Copies the rows unchanged. The triggers are off, because they would count, timestamp or reject rows. */
async function load(
  client: ClientBase,
  { file, backup }: RestoreOptions,
  tables: readonly string[],
): Promise<void> {
  const triggers = await switchTriggersOff(client, tables);
  // `delete` instead of `truncate`: transactions that started reading keep their snapshot.
  for (const name of tables.toReversed()) {
    await client.query(`delete from ${client.escapeIdentifier(name)}`);
  }
  const loaded = await readBackup(file, (table, rows) =>
    pipeline(rows, client.query(copyFrom(`copy ${copyTarget(client, table)} from stdin`))),
  );
  if (JSON.stringify(loaded) !== JSON.stringify(backup)) {
    throw new BackupError(`${file} changed during the restore. The database was not changed.`);
  }
  // Prevents a sequence from returning a number again.
  await client.query(
    `select setval(format('%I', name)::regclass, greatest(now.last::bigint, saved.last))
       from (${SEQUENCES}) as now join json_to_recordset($1) as saved (name text, last bigint) using (name)`,
    [JSON.stringify(loaded.manifest.sequences)],
  );
  for (const statement of triggers) await client.query(statement);
}

/** Returns the statements that enable the triggers again, each in its previous mode. */
async function switchTriggersOff(client: ClientBase, tables: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ off: string; on: string }>(
    `select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as off,
            format('alter table %s enable %s trigger %I', tgrelid::regclass,
              case tgenabled when 'A' then 'always' when 'R' then 'replica' else '' end, tgname) as on
       from pg_trigger where not tgisinternal and tgenabled <> 'D' and tgrelid = any ($1::regclass[])`,
    [tables],
  );
  for (const { off } of rows) await client.query(off);
  return rows.map(({ on }) => on);
}

/** Below the deadlock timeout of PostgreSQL (1 s), after which PostgreSQL would abort another transaction. */
const WAIT_MS = 700;
const PAUSE_MS = 300;
const PATIENCE_MS = 60_000;

/** A transaction may hold one table and wait for another table, so each attempt is short and is retried. */
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
        throw new BackupError(
          'Nothing was changed: the tables were in use for a minute. End the longest session of pg_stat_activity, or try again later.',
        );
      }
    }
  }
}
