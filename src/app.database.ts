import { schema } from './app.schema.js';
import type { Settings } from './platform/config/settings.js';
import {
  type OpenDatabase,
  openDatabase,
  type OpenOptions,
} from './platform/database/open-database.js';
import { givenSecretKeys } from './platform/secrets/load-secret-keys.js';
import { requireKnownKeys } from './platform/secrets/known-keys.js';
import type { SecretKeys } from './platform/secrets/secret-box.js';

export interface OpenWithKeys {
  readonly database: OpenDatabase;
  readonly keys: SecretKeys;
}

/** Opens the database for the service and every command, only with the keys that it was used with. */
export async function openWithKeys(
  settings: Settings,
  log: (line: string) => void,
  giveUp?: AbortSignal,
  options?: OpenOptions,
): Promise<OpenWithKeys> {
  // First, so that invalid keys change nothing.
  givenSecretKeys(settings);
  const database = await openDatabase(settings, schema, log, giveUp, options);
  try {
    return { database, keys: await requireKnownKeys(settings, database.dataSource) };
  } catch (error) {
    await database.close();
    throw error;
  }
}
