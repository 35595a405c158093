import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Settings } from '../config/settings.js';
import { connectionOptions, patientConnectionOptions } from './connection.js';
import { createDataSource, type Schema } from './data-source.js';
import { migrate } from './migrate.js';
import { grantRuntime } from './runtime-role.js';
import { isDatabaseUnavailable } from './sqlstate.js';

const RETRY_MS = 500;
const CLOSE_MS = 2_000;

export interface OpenDatabase {
  /** Of the role that the service runs as. */
  readonly dataSource: DataSource;
  readonly url: string;
  /** Of the role that owns the tables; the same where there is only one role. */
  readonly ownerUrl: string;
  readonly embedded: boolean;
  close(): Promise<void>;
}

/** Starts or reaches the database, brings its schema up to date and connects the pool. */
export async function openDatabase(
  settings: Settings,
  schema: Schema,
  log: (line: string) => void,
  giveUp?: AbortSignal,
): Promise<OpenDatabase> {
  const server = settings.databaseUrl
    ? { url: settings.databaseUrl, stop: async (): Promise<void> => undefined }
    : await startEmbedded(settings, log);
  try {
    giveUp?.throwIfAborted();
    const roles = rolesOf(settings, server);
    await untilAvailable(settings.databaseUrl ? settings.databaseWaitMs : 0, log, giveUp, () =>
      migrateFor(roles, schema),
    );
    giveUp?.throwIfAborted();
    const { url, ownerUrl } = roles;
    const dataSource = createDataSource(schema, connectionOptions(url, settings), (error) =>
      log(`A database connection was lost: ${error.message}`),
    );
    await dataSource.initialize();
    return {
      dataSource,
      url,
      ownerUrl,
      embedded: settings.databaseUrl === undefined,
      close: async () => {
        // The pool waits for every connection to come back, and one whose server hangs does not.
        await Promise.race([dataSource.destroy(), sleep(CLOSE_MS, undefined, { ref: false })]);
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Who owns the tables and changes them, and who the service runs as. */
export interface Roles {
  readonly ownerUrl: string;
  readonly url: string;
}

function rolesOf(
  { databaseUrl, migrationDatabaseUrl }: Settings,
  server: { readonly url: string; readonly serviceUrl?: string },
): Roles {
  const url = databaseUrl ?? server.serviceUrl ?? server.url;
  return { url, ownerUrl: migrationDatabaseUrl ?? server.url };
}

/** Brings the schema up to date as its owner, and lets the service's role use it. */
export async function migrateFor({ ownerUrl, url }: Roles, schema: Schema): Promise<void> {
  await migrate(ownerUrl, schema);
  if (ownerUrl === url) return;
  await schema.installLibraries?.(patientConnectionOptions(ownerUrl));
  await grantRuntime(ownerUrl, url, schema.librarySchemas ?? []);
}

/** Loaded only here: with an external database the embedded binaries are not touched. */
async function startEmbedded(settings: Settings, log: (line: string) => void) {
  const { startEmbeddedPostgres } = await import('./embedded/embedded-postgres.js');
  return startEmbeddedPostgres({ dataDir: settings.dataDir, log });
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
      await sleep(RETRY_MS, undefined, { ...(giveUp && { signal: giveUp }) });
    }
  }
}
