import { join } from 'node:path';
import { SettingError } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { readOrCreateKeyFile } from './key-file.js';
import { SecretKeys } from './secret-keys.js';

/**
 * Called once, before anything is served. The embedded database lives on one machine beside its key; with an external
 * one every replica must be given the same key, so that none is made up.
 */
export function loadSecretKeys(
  settings: Pick<Settings, 'secretsKey' | 'databaseUrl' | 'dataDir'>,
): SecretKeys {
  if (settings.secretsKey.length > 0) return new SecretKeys(settings.secretsKey);
  if (settings.databaseUrl !== undefined) {
    throw new SettingError(
      'SECRETS_KEY is needed with DATABASE_URL: set the output of `openssl rand -base64 32`.',
    );
  }
  return new SecretKeys(readOrCreateKeyFile(join(settings.dataDir, 'secrets.key')));
}
