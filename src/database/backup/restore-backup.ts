import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { commandConnection } from '../connection.js';
import { createDataSource, type Schema } from '../data-source.js';
import { MIGRATION_LOCK } from '../migrate.js';
import { Transactions, type Tx } from '../transactions.js';
import { BackupError } from './backup-format.js';
import type { BackupPlan } from './backup-plan.js';
import { appliedMigrations, copyTarget, listTables } from './catalog.js';
import { tablesOf, type VerifiedBackup } from './read-backup.js';

/** The library that keeps the jobs makes its schema at the next start; a job only wakes what the rows know. */
const JOBS_SCHEMA = 'pgboss';

export interface RestoreOptions {
  readonly url: string;
  readonly file: string;
  readonly backup: VerifiedBackup;
  readonly schema: Schema;
  readonly plan: BackupPlan;
  /** What the database holds already goes. */
  readonly force?: boolean;
}

/**
 * Puts the backup in the place of what is there, in one transaction: it is all there, or all is as it was. The schema is
 * first brought to where the backup was made, and from there to this release, so that an older backup is changed as
 * an older database would have been.
 */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { url, schema, backup } = options;
  refuseNewer(backup.manifest.migrations, schema, 'The backup');
  const dataSource = await createDataSource(schema, commandConnection(url)).initialize();
  try {
    await new Transactions(dataSource).run((tx) => restore(tx, dataSource, options));
  } finally {
    await dataSource.destroy();
  }
}

async function restore(tx: Tx, dataSource: DataSource, options: RestoreOptions): Promise<void> {
  const { plan, backup, schema, url } = options;
  const runner = tx.queryRunner!;
  const client = (await runner.connect()) as ClientBase;
  // A service that starts meanwhile waits here for what this leaves.
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await refuseService(client);
  await clear(client, runner, dataSource, options);

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
  await load(client, options);
  await migrations(dataSource, runner).executePendingMigrations();
  await plan.rebuild(tx);
}

/** They go back by what they came by, so that nothing of anybody else in this database is touched. */
async function clear(
  client: ClientBase,
  runner: QueryRunner,
  dataSource: DataSource,
  { schema, force }: RestoreOptions,
): Promise<void> {
  const applied = await appliedMigrations(client);
  refuseNewer(applied, schema, 'The database');
  if (!force && (await isUsed(client, applied))) {
    throw new BackupError(
      'The database is not empty: restore into a new one, or say --force to replace everything in it.',
    );
  }
  for (let left = applied.length; left > 0; left -= 1) {
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

/** A process that goes on with what it remembers of another database would write into this one what never was. */
async function refuseService(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ sessions: number }>(
    `select count(*)::int as sessions from pg_stat_activity
      where datname = current_database() and application_name = 'incident-triage-service'`,
  );
  if (rows[0]?.sessions === 0) return;
  throw new BackupError(
    'The service is connected to this database: stop every replica, restore, and start them again.',
  );
}

function nameOf(migration: Schema['migrations'][number]): string {
  return new migration().name ?? '';
}

function refuseNewer(applied: readonly string[], schema: Schema, what: string): void {
  const known = schema.migrations.map(nameOf);
  const newer = applied.find((name) => !known.includes(name));
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

/** Rows come as they were: no trigger counts them again, stamps them or refuses them meanwhile. */
async function load(client: ClientBase, { file, plan, backup }: RestoreOptions): Promise<void> {
  const here = await listTables(client);
  const kept = here.filter(({ name }) => !plan.leftOut.includes(name));
  const triggers = await switchTriggersOff(
    client,
    kept.map(({ name }) => name),
  );
  // What migrations put there; those that refer to others are last.
  for (const { name } of kept.toReversed()) {
    await client.query(`delete from ${client.escapeIdentifier(name)}`);
  }
  for await (const { table, rows } of tablesOf(file)) {
    if (!kept.some(({ name }) => name === table.name)) {
      throw new BackupError(
        `The backup holds a table ${table.name} that its migrations do not make.`,
      );
    }
    await pipeline(rows, client.query(copyFrom(`copy ${copyTarget(client, table)} from stdin`)));
  }
  for (const { name, last_value, is_called } of backup.sequences) {
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
