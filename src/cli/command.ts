import { parseArgs } from 'node:util';
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

/** Reads one argument, and options that have no value. */
export function readArgument<Option extends string>(usage: string, ...names: readonly Option[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = Object.fromEntries(names.map((name) => [name, flag]));
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const [argument] = positionals;
  if (argument === undefined || positionals.length > 1) throw new Error(usage);
  return { argument, options: values as Readonly<Record<Option, boolean>> };
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
