import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { schema } from './app.schema.js';
import type { Settings } from './platform/config/settings.js';
import { connectionOptions, type TimeLimits } from './platform/database/connection.js';
import { createDataSource, followDatabaseTime } from './platform/database/data-source.js';
import { migrate } from './platform/database/migrate.js';
import type { Server } from './platform/database/reach-server.js';
import { isDatabaseUnavailable, sqlStateOf } from './platform/database/sqlstate.js';
import { Transactions } from './platform/database/transactions.js';
import type { SecretKeys } from './platform/secrets/secret-box.js';
import { acceptKeys, givenSecretKeys } from './platform/secrets/secret-keys.js';

const EXTERNAL_WAIT_MS = 30_000;
const RETRY_MS = 500;
const CLOSE_MS = 2_000;

export interface OpenDatabase {
  readonly dataSource: DataSource;
  readonly keys: SecretKeys;
  close(): Promise<void>;
}

/** If the database cannot be opened, for example because a secret key is missing, stops the database server. */
export async function openDatabase(
  server: Server,
  settings: Settings,
  log: (line: string) => void,
  { giveUp, limits }: { readonly giveUp?: AbortSignal; readonly limits?: TimeLimits } = {},
): Promise<OpenDatabase> {
  const dataSource = createDataSource(schema, connectionOptions(server.url, settings, limits));
  const close = async (): Promise<void> => {
    // The pool waits for all connections, and a connection to a hanging server never ends. So this wait has a limit.
    const closed = dataSource.isInitialized ? dataSource.destroy() : undefined;
    await Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
    await server.stop();
  };
  try {
    giveUp?.throwIfAborted();
    // Rejects invalid keys before the database is migrated.
    givenSecretKeys(settings);
    await migrateWhenAvailable(server, settings.databaseUrl ? EXTERNAL_WAIT_MS : 0, log, giveUp);
    giveUp?.throwIfAborted();
    await dataSource.initialize();
    await followDatabaseTime(dataSource);
    const keys = await new Transactions(dataSource).run((tx) => acceptKeys(tx, settings));
    return { dataSource, keys, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function migrateWhenAvailable(
  { ownerUrl, place }: Server,
  patienceMs: number,
  log: (line: string) => void,
  giveUp: AbortSignal | undefined,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  let reported: string | undefined;
  for (;;) {
    try {
      return await migrate(ownerUrl, schema);
    } catch (error) {
      const { message } = error as Error;
      if (!isDatabaseUnavailable(error) || Date.now() >= deadline) {
        const isOfServer = sqlStateOf(error) !== undefined;
        throw isOfServer ? new Error(`${place}: ${message}`, { cause: error }) : error;
      }
      if (message !== reported) {
        log(`The database does not answer (${message}). Retrying for ${patienceMs / 1_000} s.`);
      }
      reported = message;
      await sleep(RETRY_MS, undefined, { signal: giveUp });
    }
  }
}
