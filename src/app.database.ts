import { schema } from './app.schema.js';
import type { Settings } from './platform/config/settings.js';
import {
  type OpenDatabase,
  openDatabase,
  type OpenOptions,
} from './platform/database/open-database.js';
import { givenSecretKeys } from './platform/secrets/load-secret-keys.js';
import { Transactions } from './platform/database/transactions.js';
import type { SecretKeys } from './platform/secrets/secret-box.js';
import { acceptKeys } from './platform/secrets/secret-keys.js';

export interface OpenWithKeys {
  readonly database: OpenDatabase;
  readonly keys: SecretKeys;
}

/** Opens the database for the service and every command. Fails if a key is missing that the database still needs. */
export async function openWithKeys(
  settings: Settings,
  log: (line: string) => void,
  giveUp?: AbortSignal,
  options?: OpenOptions,
): Promise<OpenWithKeys> {
  // Rejects invalid keys before the database is opened and migrated.
  givenSecretKeys(settings);
  const database = await openDatabase(settings, schema, log, giveUp, options);
  try {
    const transactions = new Transactions(database.dataSource);
    return { database, keys: await transactions.run((tx) => acceptKeys(tx, settings)) };
  } catch (error) {
    await database.close();
    throw error;
  }
}
