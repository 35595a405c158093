import { type OpenDatabase, openDatabase } from '../app.database.js';
import type { Settings } from '../platform/config/settings.js';
import type { TimeLimits } from '../platform/database/connection.js';
import { reachServer } from '../platform/database/reach-server.js';

export function runCommand(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Opens the database for a command. If the database is embedded, uses the PostgreSQL server of the running service. */
export async function withDatabase<T>(
  settings: Settings,
  work: (database: OpenDatabase) => Promise<T>,
  limits?: TimeLimits,
): Promise<T> {
  const silent = (): void => undefined;
  const server = await reachServer(settings, silent, true);
  const database = await openDatabase(server, settings, silent, { limits });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
