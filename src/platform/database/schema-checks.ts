import type { DataSource } from 'typeorm';
import { lastUnknown, readAppliedMigrations } from './applied-migrations.js';
import { MIGRATIONS_TABLE, type Schema } from './data-source.js';

const OLDEST_SUPPORTED = 140_000;

/** For a role that is meant to own nothing: owning the database would undo what it is for. */
const AS_THE_OWNER =
  'Where another role owns the database, run `npm run migrate` with MIGRATION_DATABASE_URL of that role';

export class UnsupportedDatabaseError extends Error {}

/** Refuses what this release cannot work with, before anything is changed. */
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

/** Tables that a newer release has changed may be read wrongly, or written to without what it expects in them. */
function requireNoneUnknown(applied: readonly string[], schema: Schema): void {
  const unknown = lastUnknown(applied, schema);
  if (unknown === undefined) return;
  throw new UnsupportedDatabaseError(
    `The database belongs to a newer release: this one does not know its migration ${unknown}. ` +
      'Start that release or a later one, or restore a backup from before the upgrade.',
  );
}

/** A role that may make some things and not others would leave a service of which half works. */
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

interface Rights {
  readonly role: string;
  readonly database: string;
  readonly schema: string;
  readonly may_create_tables: boolean;
  readonly may_create_schemas: boolean;
  readonly missing: readonly string[];
}
