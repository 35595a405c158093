import { requireUsableDatabase } from './schema-checks.js';
import type { Settings } from '../config/settings.js';
import { AdvisoryLock } from './advisory-locks.js';
import { connectionOptions, patientConnectionOptions } from './connection.js';
import { createDataSource, type Schema } from './data-source.js';
import type { Server } from './reach-server.js';
import { isDatabaseUnavailable } from './sqlstate.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { learnTime } from '../clock.js';

/** Maximum wait of the start for an external database. */
const EXTERNAL_WAIT_MS = 30_000;
const RETRY_MS = 500;
const CLOSE_MS = 2_000;

export interface OpenDatabase {
  readonly dataSource: DataSource;
  readonly url: string;
  /** Describes where the data is, for people. Never contains a password. */
  readonly place: string;
  close(): Promise<void>;
}

/** Migrates and opens the database of a server. If this fails, the server is stopped. */
export async function openDatabase(
  server: Server,
  settings: Settings,
  schema: Schema,
  log: (line: string) => void,
  giveUp?: AbortSignal,
): Promise<OpenDatabase> {
  const { url } = server;
  const dataSource = createDataSource(schema, connectionOptions(url, settings));
  const close = async (): Promise<void> => {
    // Limits the wait: the pool waits for all connections, and a connection to a hanging server never ends.
    const closed = dataSource.isInitialized ? dataSource.destroy() : undefined;
    await Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
    await server.stop();
  };
  try {
    giveUp?.throwIfAborted();
    await untilAvailable(settings.databaseUrl ? EXTERNAL_WAIT_MS : 0, log, giveUp, () =>
      migrate(server.ownerUrl, schema),
    );
    giveUp?.throwIfAborted();
    await dataSource.initialize();
    await followDatabaseTime(dataSource);
    return { dataSource, url, place: server.place, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Migrates the schema. Replicas that start together take turns. */
export async function migrate(url: string, schema: Schema): Promise<void> {
  // Migrations are SQL, so the metadata of the entities is not built.
  const options = patientConnectionOptions(url);
  const dataSource = await createDataSource({ ...schema, entities: [] }, options).initialize();
  try {
    const lock = dataSource.createQueryRunner();
    try {
      await lock.query(`select pg_advisory_lock(${AdvisoryLock.Migration})`);
      await requireUsableDatabase(dataSource, schema);
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      // Closing the data source ends the connection and its lock.
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

async function untilAvailable(
  patienceMs: number,
  log: (line: string) => void,
  giveUp: AbortSignal | undefined,
  work: () => Promise<void>,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || Date.now() >= deadline) throw error;
      log(`The database does not answer yet (${(error as Error).message}); trying again.`);
      await sleep(RETRY_MS, undefined, { signal: giveUp });
    }
  }
}

const TIME = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as told`;

/** Measures the clock difference between this machine and the database, so that the process uses the database time. */
export async function followDatabaseTime(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    // The measured time must not include the wait for a connection.
    await runner.connect();
    const [asked, begin] = [Date.now(), performance.now()];
    const [row] = await runner.manager.query<{ told: number }[]>(TIME);
    learnTime({ asked, told: row!.told, answered: asked + performance.now() - begin });
  } finally {
    await runner.release();
  }
}
