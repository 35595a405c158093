import type { DataSource } from 'typeorm';
import { patientConnectionOptions } from './connection.js';
import { createDataSource, type Schema } from './data-source.js';

const MIGRATION_LOCK = 7_203_441;
const OLDEST_SUPPORTED = 140_000;

export class UnsupportedDatabaseError extends Error {}

/** Brings the schema up to date. Replicas that start together migrate one after the other, the later ones nothing. */
export async function migrate(url: string, schema: Schema): Promise<void> {
  const dataSource = await createDataSource(schema, patientConnectionOptions(url)).initialize();
  try {
    await requireSupportedVersion(dataSource);
    const lock = dataSource.createQueryRunner();
    try {
      await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      // The connection ends with the data source, and the lock with the connection.
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
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
