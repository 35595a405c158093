import type { DataSource } from 'typeorm';
import { MIGRATIONS_TABLE, type Schema } from './data-source.js';

const OLDEST_SUPPORTED = 140_000;

const AS_THE_OWNER =
  'If another role owns the database, run `npm run migrate` with MIGRATION_DATABASE_URL set to that role';

class UnsupportedDatabaseError extends Error {}

export async function requireUsableDatabase(dataSource: DataSource, schema: Schema): Promise<void> {
  const [found] = await dataSource.query<Found[]>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as server,
       current_user as role, current_database() as database, coalesce(current_schema(), 'public') as schema,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as may_create_tables`,
  );
  const { version, server, role, database, schema: place, may_create_tables } = found!;
  if (version < OLDEST_SUPPORTED) {
    throw new UnsupportedDatabaseError(
      `PostgreSQL 14 or newer is required; the server has version ${server}.`,
    );
  }
  await requireReadable(dataSource);
  const applied = await readAppliedMigrations((statement) => dataSource.query(statement));
  const unknown = lastUnknown(applied, schema);
  if (unknown !== undefined) {
    // A newer release may have changed tables, so this release could misread or corrupt them.
    throw new UnsupportedDatabaseError(
      `The database belongs to a newer release: this release does not know the migration ${unknown}. ` +
        'Start that release or a later one, or restore a backup from before the upgrade.',
    );
  }
  if (applied.length < schema.migrations.length && !may_create_tables) {
    throw new UnsupportedDatabaseError(
      `The role "${role}" may not create tables in the schema "${place}", but migrations are pending. ` +
        `${AS_THE_OWNER}. If there is only one role, make it the owner: alter database "${database}" owner to "${role}".`,
    );
  }
}

interface Found {
  readonly version: number;
  readonly server: string;
  readonly role: string;
  readonly database: string;
  readonly schema: string;
  readonly may_create_tables: boolean;
}

/** Rejects a database role that may not read the tables. */
export async function requireReadable(dataSource: DataSource): Promise<void> {
  const [found] = await dataSource.query<{ readable: boolean | null; role: string }[]>(
    `select has_table_privilege(to_regclass($1)::oid, 'select') as readable, current_user as role`,
    [MIGRATIONS_TABLE],
  );
  if (found?.readable !== false) return;
  throw new UnsupportedDatabaseError(
    `The role "${found.role}" may not read the tables of the service. ${AS_THE_OWNER}, then run docs/service-role.sql.`,
  );
}

type Ask = <R>(statement: string) => Promise<readonly R[]>;

export async function readAppliedMigrations(ask: Ask): Promise<string[]> {
  const [found] = await ask<{ there: boolean }>(
    `select to_regclass('${MIGRATIONS_TABLE}') is not null as there`,
  );
  if (!found?.there) return [];
  const rows = await ask<{ name: string }>(`select name from ${MIGRATIONS_TABLE} order by id`);
  return rows.map(({ name }) => name);
}

/** Returns the last applied migration that this release does not know: the database belongs to a newer release. */
export function lastUnknown(
  applied: readonly string[],
  { migrations }: Schema,
): string | undefined {
  const known = migrations.map((migration) => new migration().name);
  return applied.findLast((name) => !known.includes(name));
}
