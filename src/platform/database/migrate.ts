import { AdvisoryLock } from './advisory-locks.js';
import { patientConnectionOptions } from './connection.js';
import { createDataSource, type Schema } from './data-source.js';
import { requireUsableDatabase } from './schema-checks.js';

/** Brings the schema up to date. Replicas that start together migrate one after the other, the later ones nothing. */
export async function migrate(url: string, schema: Schema): Promise<void> {
  const dataSource = await createDataSource(schema, patientConnectionOptions(url)).initialize();
  try {
    const lock = dataSource.createQueryRunner();
    try {
      await lock.query(`select pg_advisory_lock(${AdvisoryLock.Migration})`);
      await requireUsableDatabase(dataSource, schema);
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      // The connection ends with the data source, and the lock with the connection.
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}
