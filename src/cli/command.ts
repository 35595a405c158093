import { type OpenWithKeys, openWithKeys } from '../app.database.js';
import type { Settings } from '../platform/config/settings.js';

/** Runs a command. An error is shown to the operator as one line. */
export function runCommand(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** For commands that read whole tables: a statement may take an hour before it is cancelled. */
export function withLongStatements(settings: Settings): Settings {
  return { ...settings, databaseStatementTimeoutMs: 3_600_000 };
}

/** When the service runs with the embedded database, the command uses the PostgreSQL server of the service. */
export async function withDatabase<T>(
  settings: Settings,
  work: (open: OpenWithKeys) => Promise<T>,
): Promise<T> {
  const open = await openWithKeys(settings, () => undefined, undefined, { join: true });
  try {
    return await work(open);
  } finally {
    await open.database.close();
  }
}
