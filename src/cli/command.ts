import { type OpenDatabase, openDatabase } from '../app.database.js';
import type { Settings } from '../platform/config/settings.js';
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

/** Joins the running PostgreSQL server of the service if the database is embedded. */
export async function withDatabase<T>(
  settings: Settings,
  work: (database: OpenDatabase) => Promise<T>,
): Promise<T> {
  const silent = (): void => undefined;
  const database = await openDatabase(await reachServer(settings, silent, true), settings, silent);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
