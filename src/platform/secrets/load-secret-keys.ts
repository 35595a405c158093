import { join } from 'node:path';
import { SettingError } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { readKeyFileIfPresent, readOrCreateKeyFile } from './key-file.js';
import { SecretKeys } from './secret-keys.js';

export type KeySettings = Pick<Settings, 'secretsKey' | 'databaseUrl' | 'dataDir'>;

/** The file of the keys, when they are not in a setting. */
export function keyFileOf({ dataDir }: KeySettings): string {
  return join(dataDir, 'secrets.key');
}

/**
 * The keys that this process was given. The embedded database lives on one machine beside its key, and undefined means
 * that this is not there (yet); with an external one every replica must be given the same key, so that none is made up.
 */
export function givenSecretKeys(settings: KeySettings): SecretKeys | undefined {
  if (settings.secretsKey.length > 0) return new SecretKeys(settings.secretsKey);
  if (settings.databaseUrl !== undefined) {
    throw new SettingError(
      'SECRETS_KEY is needed with DATABASE_URL: set the output of `openssl rand -base64 32`.',
    );
  }
  const keys = readKeyFileIfPresent(keyFileOf(settings));
  return keys && new SecretKeys(keys);
}

/** Those, or a new one beside the embedded database; only for a database that was never used with any: see acceptKeys. */
export function loadSecretKeys(settings: KeySettings): SecretKeys {
  return givenSecretKeys(settings) ?? new SecretKeys(readOrCreateKeyFile(keyFileOf(settings)));
}
