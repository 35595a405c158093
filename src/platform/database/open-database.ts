import { type Roles, requireSameDatabase } from './same-database.js';
import type { Settings } from '../config/settings.js';
import { AdvisoryLock } from './advisory-locks.js';
import { connectionOptions, patientConnectionOptions, tryToConnect } from './connection.js';
import { createDataSource, poolOf, type Schema } from './data-source.js';
import { followDatabaseTime } from './database-time.js';
import { type Log, Outage } from './outage.js';
import { grantRuntime } from './runtime-role.js';
import { requireUsableDatabase } from './schema-checks.js';
import { isDatabaseUnavailable } from './sqlstate.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';

const RETRY_MS = 500;
const CLOSE_MS = 2_000;

export interface OpenDatabase {
  /** Of the role that the service runs as. */
  readonly dataSource: DataSource;
  readonly url: string;
  /** Of the role that owns the tables; the same where there is only one role. */
  readonly ownerUrl: string;
  /** Where the data is, for people: of a server elsewhere without the password. */
  readonly place: string;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Uses the embedded server of a service that runs already, instead of being refused because of it. */
  readonly join?: boolean;
}

/** Starts or reaches the database, brings its schema up to date and connects the pool. */
export async function openDatabase(
  settings: Settings,
  schema: Schema,
  log: Log,
  giveUp?: AbortSignal,
  options: OpenOptions = {},
): Promise<OpenDatabase> {
  const server = await reachServer(settings, log, options);
  try {
    giveUp?.throwIfAborted();
    await untilAvailable(settings.databaseUrl ? settings.databaseWaitMs : 0, log, giveUp, () =>
      migrateFor(server, schema),
    );
    giveUp?.throwIfAborted();
    const { url, ownerUrl } = server;
    const connection = connectionOptions(url, settings);
    const outage = new Outage(log, () => tryToConnect(connection));
    const dataSource = createDataSource(schema, connection, (error) => outage.lost(error));
    await dataSource.initialize();
    await followDatabaseTime(dataSource);
    const pool = poolOf(dataSource);
    pool.on('connect', () => outage.connected());
    pool.onBroken = (error) => outage.lost(error);
    pool.onUnreachable = (error) => outage.unreachable(error);
    pool.onFull = (connections) =>
      log(
        `PostgreSQL lets in no more connections: ${connections} have to do, and what finds none free waits.`,
      );
    return {
      dataSource,
      url,
      ownerUrl,
      place: server.place,
      close: async () => {
        // The embedded server ends the connections of a service that stops.
        outage.ignore();
        // The pool waits until every connection has come back, and a connection whose server hangs never does.
        await Promise.race([dataSource.destroy(), sleep(CLOSE_MS, undefined, { ref: false })]);
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

export interface Server extends Roles {
  readonly place: string;
  stop(): Promise<void>;
}

/** The external server, or the embedded one, which is started if it does not run. */
export async function reachServer(
  { databaseUrl, migrationDatabaseUrl, dataDir }: Settings,
  log: (line: string) => void,
  { join = false }: OpenOptions = {},
): Promise<Server> {
  if (databaseUrl !== undefined) {
    const ownerUrl = migrationDatabaseUrl ?? databaseUrl;
    return { url: databaseUrl, ownerUrl, place: placeOf(databaseUrl), stop: async () => undefined };
  }
  // Loaded only here: with an external database the embedded binaries are not touched.
  const { startEmbeddedPostgres, startOrJoin } = await import('./embedded/embedded-postgres.js');
  const server = await (join ? startOrJoin : startEmbeddedPostgres)({ dataDir, log });
  return {
    url: server.serviceUrl,
    ownerUrl: server.url,
    place: `embedded PostgreSQL, which keeps its data in ${server.cluster}`,
    stop: () => server.stop(),
  };
}

function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  const host = hostname === '' ? 'a local socket' : `${hostname}:${port || '5432'}`;
  return `PostgreSQL at ${host}, database ${pathname.slice(1) || 'of the role'}`;
}

/** Brings the schema up to date as its owner, and lets the service's role use it. */
export async function migrateFor({ ownerUrl, url }: Roles, schema: Schema): Promise<void> {
  await requireSameDatabase({ ownerUrl, url });
  await migrate(ownerUrl, schema);
  await letServiceUse({ ownerUrl, url }, schema);
}

/** Brings the schema up to date. Replicas that start together take turns, and the later ones find nothing left to do. */
export async function migrate(url: string, schema: Schema): Promise<void> {
  const dataSource = await createDataSource(schema, patientConnectionOptions(url)).initialize();
  try {
    const lock = dataSource.createQueryRunner();
    try {
      await lock.query(`select pg_advisory_lock(${AdvisoryLock.Migration})`);
      await requireUsableDatabase(dataSource, schema);
      await dataSource.runMigrations({ transaction: 'each' });
    } finally {
      // The lock ends with its connection, and the connection with the data source.
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

/** Makes and grants what the role of the service needs and may not make for itself. */
export async function letServiceUse({ ownerUrl, url }: Roles, schema: Schema): Promise<void> {
  if (ownerUrl === url) return;
  await schema.installLibraries?.(patientConnectionOptions(ownerUrl));
  await grantRuntime(ownerUrl, url, schema.librarySchemas ?? []);
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
