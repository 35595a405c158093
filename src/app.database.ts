import { schema } from './app.schema.js';
import type { Settings } from './platform/config/settings.js';
import {
  type OpenDatabase,
  openDatabase,
  type OpenOptions,
} from './platform/database/open-database.js';
import type { Log } from './platform/database/outage.js';
import { requireKnownKeys } from './platform/secrets/known-keys.js';
import { givenSecretKeys } from './platform/secrets/load-secret-keys.js';
import type { SecretKeys } from './platform/secrets/secret-keys.js';

export interface OpenWithKeys {
  readonly database: OpenDatabase;
  readonly keys: SecretKeys;
}

/** How the service and every command come to the database: with the keys that it was used with, or not at all. */
export async function openWithKeys(
  settings: Settings,
  log: Log,
  giveUp?: AbortSignal,
  options?: OpenOptions,
): Promise<OpenWithKeys> {
  // Before anything else: with keys that are no keys nothing must be touched.
  givenSecretKeys(settings);
  const database = await openDatabase(settings, schema, log, giveUp, options);
  try {
    return { database, keys: await requireKnownKeys(settings, database.dataSource) };
  } catch (error) {
    await database.close();
    throw error;
  }
}
