import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Settings } from '../config/settings.js';
import { connectionOptions } from './connection.js';
import { createDataSource, type Schema } from './data-source.js';
import { migrate } from './migrate.js';
import { isDatabaseUnavailable } from './sqlstate.js';

const RETRY_MS = 500;
const CLOSE_MS = 2_000;

export interface OpenDatabase {
  readonly dataSource: DataSource;
  readonly url: string;
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
    await untilAvailable(settings.databaseUrl ? settings.databaseWaitMs : 0, log, giveUp, () =>
      migrate(server.url, schema),
    );
    giveUp?.throwIfAborted();
    const dataSource = createDataSource(schema, connectionOptions(server.url, settings), (error) =>
      log(`A database connection was lost: ${error.message}`),
    );
    await dataSource.initialize();
    return {
      dataSource,
      url: server.url,
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
