import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { lastUnknown } from '../schema-checks.js';
import { commandConnection } from '../connection.js';
import { createDataSource, MIGRATIONS_TABLE, type Schema } from '../data-source.js';
import { AdvisoryLock } from '../advisory-locks.js';
import { Transactions, type Tx } from '../transactions.js';
import { BackupError, type SequenceValue } from './backup-format.js';
import type { RestorePlan } from './backup-plan.js';
import { appliedMigrations, copyTarget, laterOf, listTables, readSequences } from './catalog.js';
import { lockTables } from './lock-tables.js';
import { tablesOf, type VerifiedBackup } from './read-backup.js';
import { followDatabaseTime } from '../database-time.js';

/** The library that keeps the jobs makes its schema at the next start; a job only wakes what the rows know. */
const JOBS_SCHEMA = 'pgboss';

export interface RestoreOptions {
  readonly url: string;
  readonly file: string;
  readonly backup: VerifiedBackup;
  readonly schema: Schema;
  readonly plan: RestorePlan;
  /** What the database holds already goes. */
  readonly force?: boolean;
}

/**
 * Puts the backup in the place of what is there, in one transaction: it is all there, or all is as it was. Where the
 * backup, the database and this release have the same schema, the rows alone are replaced, and the service may run
 * meanwhile. Otherwise the schema is first brought to where the backup was made, and from there to this release, so that
 * an older backup is changed as an older database would have been.
 */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { url, schema, backup } = options;
  refuseNewer(backup.manifest.migrations, schema, 'The backup');
  const dataSource = await createDataSource(schema, commandConnection(url)).initialize();
  try {
    await followDatabaseTime(dataSource);
    await new Transactions(dataSource).run((tx) => restore(tx, dataSource, options));
  } finally {
    await dataSource.destroy();
  }
}

async function restore(tx: Tx, dataSource: DataSource, options: RestoreOptions): Promise<void> {
  const { plan, backup, schema, force } = options;
  const client = (await tx.queryRunner!.connect()) as ClientBase;
  await requireOwner(client);
  // A service that starts meanwhile waits here for what this leaves.
  await client.query(`select pg_advisory_xact_lock(${AdvisoryLock.Migration})`);
  const applied = await appliedMigrations(client);
  refuseNewer(applied, schema, 'The database');
  if (!force && (await isUsed(client, applied))) {
    throw new BackupError(
      'The database is not empty: restore into a new one, or say --force to replace everything in it.',
    );
  }
  const inUse = await isServiceConnected(client);
  const latest = schema.migrations.map(nameOf);
  if (sameNames(applied, latest) && sameNames(backup.manifest.migrations, latest)) {
    if (inUse && !(await plan.readableToAll(tx))) refuse('was made with other keys');
    await replaceRows(tx, client, options, inUse);
  } else {
    if (inUse) refuse('has another schema than the database or this release');
    await remake(tx, client, dataSource, options);
  }
  await plan.rebuild(tx);
}

/** Rows are replaced past triggers, and tables made: only their owner may. */
async function requireOwner(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ role: string; may: boolean }>(
    `select current_user as role, case when to_regclass('${MIGRATIONS_TABLE}') is null
         then coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)
         else (select pg_has_role(relowner, 'USAGE') from pg_class where oid = to_regclass('${MIGRATIONS_TABLE}'))
       end as may`,
  );
  if (rows[0]!.may) return;
  throw new BackupError(
    `The role "${rows[0]!.role}" does not own the tables, and nothing was changed: set MIGRATION_DATABASE_URL to their owner, beside DATABASE_URL.`,
  );
}

/** Whoever reads or writes meanwhile waits, and then finds all of it. */
async function replaceRows(
  tx: Tx,
  client: ClientBase,
  options: RestoreOptions,
  inUse: boolean,
): Promise<void> {
  const tables = (await listTables(client)).map(({ name }) => name);
  await lockTables(client, tables);
  await options.plan.remember(tx, inUse);
  await load(client, options, { cleared: tables, sequences: await readSequences(client) });
}

async function remake(
  tx: Tx,
  client: ClientBase,
  dataSource: DataSource,
  options: RestoreOptions,
): Promise<void> {
  const { plan, backup, schema, url } = options;
  const runner = tx.queryRunner!;
  await plan.remember(tx, false);
  const sequences = await readSequences(client);
  await clear(client, runner, dataSource);
  const then = schema.migrations.filter((one) => backup.manifest.migrations.includes(nameOf(one)));
  const asItWas = await createDataSource(
    { entities: [], migrations: then },
    commandConnection(url),
  ).initialize();
  try {
    await migrations(asItWas, runner).executePendingMigrations();
  } finally {
    await asItWas.destroy();
  }
  const tables = (await listTables(client)).map(({ name }) => name);
  const cleared = tables.filter((name) => !plan.excludedTables.includes(name));
  await load(client, options, { cleared, sequences });
  await migrations(dataSource, runner).executePendingMigrations();
}

/** They go back by what they came by, so that nothing of anybody else in this database is touched. */
async function clear(
  client: ClientBase,
  runner: QueryRunner,
  dataSource: DataSource,
): Promise<void> {
  for (let left = (await appliedMigrations(client)).length; left > 0; left -= 1) {
    await migrations(dataSource, runner).undoLastMigration();
  }
  await client.query(`drop schema if exists ${JOBS_SCHEMA} cascade`);
}

/** Every change leaves a record, so that a database without one was migrated and never used. */
async function isUsed(client: ClientBase, applied: readonly string[]): Promise<boolean> {
  if (applied.length === 0) return false;
  const { rows } = await client.query<{ there: string | null }>(
    `select to_regclass('audit_log')::text as there`,
  );
  return (
    rows[0]?.there !== null && (await client.query('select from audit_log limit 1')).rowCount !== 0
  );
}

async function isServiceConnected(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ sessions: number }>(
    `select count(*)::int as sessions from pg_stat_activity
      where datname = current_database() and application_name = 'incident-triage-service'`,
  );
  return rows[0]?.sessions !== 0;
}

function refuse(why: string): never {
  throw new BackupError(
    `The service is connected to this database, and the backup ${why}: stop every replica, restore, and start them again.`,
  );
}

function sameNames(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name) => others.includes(name));
}

function nameOf(migration: Schema['migrations'][number]): string {
  return new migration().name ?? '';
}

function refuseNewer(applied: readonly string[], schema: Schema, what: string): void {
  const newer = lastUnknown(applied, schema);
  if (newer === undefined) return;
  throw new BackupError(
    `${what} is of another release than this one, which does not know ${newer}: use that release or a newer one.`,
  );
}

function migrations(dataSource: DataSource, runner: QueryRunner): MigrationExecutor {
  const executor = new MigrationExecutor(dataSource, runner);
  executor.transaction = 'all';
  return executor;
}

interface Place {
  /** Those that others refer to are first. */
  readonly cleared: readonly string[];
  /** Of the database that was here before. */
  readonly sequences: readonly SequenceValue[];
}

/** Rows come as they were: no trigger counts them again, stamps them or refuses them meanwhile. */
async function load(
  client: ClientBase,
  { file, plan, backup }: RestoreOptions,
  { cleared, sequences }: Place,
): Promise<void> {
  const triggers = await switchTriggersOff(client, cleared);
  // Not truncated: a transaction that began to read before this one committed goes on with what it has seen.
  for (const name of cleared.toReversed()) {
    await client.query(`delete from ${client.escapeIdentifier(name)}`);
  }
  for await (const { table, rows } of tablesOf(file, backup)) {
    if (!cleared.includes(table.name) || plan.excludedTables.includes(table.name)) {
      throw new BackupError(
        `The backup holds a table ${table.name} that its migrations do not make.`,
      );
    }
    await pipeline(rows, client.query(copyFrom(`copy ${copyTarget(client, table)} from stdin`)));
  }
  for (const { name, last_value, is_called } of laterOf(backup.sequences, sequences)) {
    await client.query('select setval($1::regclass, $2, $3)', [
      client.escapeIdentifier(name),
      last_value,
      is_called,
    ]);
  }
  for (const statement of triggers) await client.query(statement);
}

/** Answers what switches them on again, each as it was. */
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
