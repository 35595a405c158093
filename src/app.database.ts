import { schema } from './app.schema.js';
import type { Settings } from './platform/config/settings.js';
import { type OpenDatabase, openDatabase } from './platform/database/open-database.js';
import type { Server } from './platform/database/reach-server.js';
import { Transactions } from './platform/database/transactions.js';
import type { SecretKeys } from './platform/secrets/secret-box.js';
import { acceptKeys, givenSecretKeys } from './platform/secrets/secret-keys.js';

export interface OpenWithKeys {
  readonly database: OpenDatabase;
  readonly keys: SecretKeys;
}

/** Opens the database for the service and every command. Fails if a key is missing that the database still needs. */
export async function openWithKeys(
  server: Server,
  settings: Settings,
  log: (line: string) => void,
  giveUp?: AbortSignal,
): Promise<OpenWithKeys> {
  let close = () => server.stop();
  try {
    // Rejects invalid keys before the database is migrated.
    givenSecretKeys(settings);
    const database = await openDatabase(server, settings, schema, log, giveUp);
    close = () => database.close();
    const transactions = new Transactions(database.dataSource);
    return { database, keys: await transactions.run((tx) => acceptKeys(tx, settings)) };
  } catch (error) {
    await close();
    throw error;
  }
}
