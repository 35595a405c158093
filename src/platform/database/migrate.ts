import type { DataSource, EntityManager } from 'typeorm';
import { AdvisoryLock } from './advisory-locks.js';
import { patientConnection, SERVICE } from './connection.js';
import { createDataSource, MIGRATIONS_TABLE, type Schema } from './data-source.js';

/** Migrates the schema. Replicas that start together migrate one after another. */
export async function migrate(url: string, schema: Schema): Promise<void> {
  // Migrations are SQL and need no entities, so the metadata of the entities is not built.
  const options = patientConnection(url, SERVICE);
  const dataSource = await createDataSource({ ...schema, entities: [] }, options).initialize();
  try {
    const lock = dataSource.createQueryRunner();
    try {
      await lock.query(`select pg_advisory_lock(${AdvisoryLock.Migration})`);
      await requireSupportedServer(dataSource);
      requireKnownMigrations(await readAppliedMigrations(dataSource), schema);
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      // The lock ends later, when the data source is closed with its connection.
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

const OLDEST_SUPPORTED = 140_000;

async function requireSupportedServer(dataSource: DataSource): Promise<void> {
  const [server] = await dataSource.query<{ number: number; version: string }[]>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version`,
  );
  if (server!.number < OLDEST_SUPPORTED) {
    throw new Error(
      `PostgreSQL 14 or newer is required; the server has version ${server!.version}.`,
    );
  }
}

export async function readAppliedMigrations(by: DataSource | EntityManager): Promise<string[]> {
  const [found] = await by.query<{ there: boolean }[]>(
    `select to_regclass('${MIGRATIONS_TABLE}') is not null as there`,
  );
  if (!found?.there) return [];
  const rows = await by.query<{ name: string }[]>(
    `select name from ${MIGRATIONS_TABLE} order by id`,
  );
  return rows.map(({ name }) => name);
}

/** Rejects a database with migrations of a newer release: this release could misread or corrupt the changed tables. */
export function requireKnownMigrations(applied: readonly string[], { migrations }: Schema): void {
  const known = migrations.map((migration) => new migration().name);
  const unknown = applied.findLast((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(
    `The database belongs to a newer release: this release does not know the migration ${unknown}. ` +
      'Start that release or a later one, or restore a backup from before the upgrade.',
  );
}
