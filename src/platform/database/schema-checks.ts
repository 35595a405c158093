import type { DataSource } from 'typeorm';
import { MIGRATIONS_TABLE, type Schema } from './data-source.js';

const OLDEST_SUPPORTED = 140_000;

/** The advice where the service runs as a role that should own nothing. */
const AS_THE_OWNER =
  'Where another role owns the database, run `npm run migrate` with MIGRATION_DATABASE_URL of that role';

export class UnsupportedDatabaseError extends Error {}

/** Refuses a database that this release cannot work with, before anything in it is changed. */
export async function requireUsableDatabase(dataSource: DataSource, schema: Schema): Promise<void> {
  await requireSupportedVersion(dataSource);
  await requireReadable(dataSource);
  const applied = await readAppliedMigrations((statement) => dataSource.query(statement));
  requireNoneUnknown(applied, schema);
  const known = schema.migrations.map((migration) => new migration().name);
  const isPending = known.some((name) => name === undefined || !applied.includes(name));
  await requireRights(dataSource, isPending, schema.librarySchemas ?? []);
}

async function requireSupportedVersion(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<{ version: number; name: string }[]>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as name`,
  );
  if (!row || row.version < OLDEST_SUPPORTED) {
    throw new UnsupportedDatabaseError(
      `PostgreSQL 14 or newer is needed; the server is ${row?.name ?? 'unknown'}.`,
    );
  }
}

async function requireReadable(dataSource: DataSource): Promise<void> {
  const [found] = await dataSource.query<{ readable: boolean | null; role: string }[]>(
    `select has_table_privilege(to_regclass($1)::oid, 'select') as readable, current_user as role`,
    [MIGRATIONS_TABLE],
  );
  if (found?.readable !== false) return;
  throw new UnsupportedDatabaseError(
    `The role "${found.role}" may not read the tables of the service. ${AS_THE_OWNER}: it grants what is needed.`,
  );
}

/** A newer release may have changed tables, which this one would read wrongly or write without what that one needs. */
function requireNoneUnknown(applied: readonly string[], schema: Schema): void {
  const unknown = lastUnknown(applied, schema);
  if (unknown === undefined) return;
  throw new UnsupportedDatabaseError(
    `The database belongs to a newer release: this one does not know its migration ${unknown}. ` +
      'Start that release or a later one, or restore a backup from before the upgrade.',
  );
}

/** With a role that may make only some of what is needed, half of the service would work. */
async function requireRights(
  dataSource: DataSource,
  needsTables: boolean,
  librarySchemas: readonly string[],
): Promise<void> {
  const [rights] = await dataSource.query<Rights[]>(
    `select current_user as role, current_database() as database, coalesce(current_schema(), 'public') as schema,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as may_create_tables,
       has_database_privilege(current_database(), 'CREATE') as may_create_schemas,
       (select coalesce(array_agg(name), '{}') from unnest($1::text[]) as library (name)
         where to_regnamespace(name) is null) as missing`,
    [librarySchemas],
  );
  const { role, database, schema, missing } = rights!;
  if (needsTables && !rights!.may_create_tables) {
    throw new UnsupportedDatabaseError(
      `The role "${role}" may not create tables in the schema "${schema}", and there are tables to make or to change. ` +
        `${AS_THE_OWNER}. With one role alone, let it own the database: alter database "${database}" owner to "${role}".`,
    );
  }
  if (missing.length > 0 && !rights!.may_create_schemas) {
    throw new UnsupportedDatabaseError(
      `The role "${role}" may not create schemas in the database "${database}", and the job queue needs the schema "${missing[0]}". ` +
        `${AS_THE_OWNER}. With one role alone, let it: grant create on database "${database}" to "${role}".`,
    );
  }
}

/** Runs a statement on whatever connection the caller has, and answers its rows. */
type Ask = <R>(statement: string) => Promise<readonly R[]>;

/** Their names, in the order in which they were applied; none in a database that was never migrated. */
export async function readAppliedMigrations(ask: Ask): Promise<string[]> {
  const [found] = await ask<{ there: boolean }>(
    `select to_regclass('${MIGRATIONS_TABLE}') is not null as there`,
  );
  if (!found?.there) return [];
  const rows = await ask<{ name: string }>(`select name from ${MIGRATIONS_TABLE} order by id`);
  return rows.map(({ name }) => name);
}

/** The last applied migration that this release does not have: the database, or the backup, belongs to a newer release. */
export function lastUnknown(
  applied: readonly string[],
  { migrations }: Schema,
): string | undefined {
  const known = migrations.map((migration) => new migration().name);
  return applied.findLast((name) => !known.includes(name));
}

interface Rights {
  readonly role: string;
  readonly database: string;
  readonly schema: string;
  readonly may_create_tables: boolean;
  readonly may_create_schemas: boolean;
  readonly missing: readonly string[];
}
