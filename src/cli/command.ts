import { type OpenWithKeys, openWithKeys } from '../app.database.js';
import type { Settings } from '../platform/config/settings.js';

/** Runs a command; what goes wrong is one line for the operator. */
export function runCommand(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** For what goes through everything: no statement is given up for the time that it takes. */
export function withLongStatements(settings: Settings): Settings {
  return { ...settings, databaseStatementTimeoutMs: 3_600_000 };
}

/** With the embedded database the service may run meanwhile: the command uses its server. */
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
