import { type KeyObject, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SettingError } from '../config/load-settings.js';
import { readSecretKey } from '../config/setting-parsers.js';
import { syncFolder } from '../files.js';
import type { Settings } from '../config/settings.js';
import { SecretKeys } from './secret-box.js';

export type KeySettings = Pick<Settings, 'secretsKey' | 'databaseUrl' | 'dataDir'>;

export function keyFileOf({ dataDir }: KeySettings): string {
  return join(dataDir, 'secrets.key');
}

/** Returns the configured keys; `undefined` for an embedded database without a key. All replicas need the same key. */
export function givenSecretKeys(settings: KeySettings): SecretKeys | undefined {
  if (settings.secretsKey.length > 0) return new SecretKeys(settings.secretsKey);
  if (settings.databaseUrl !== undefined) {
    throw new SettingError(
      'DATABASE_URL requires SECRETS_KEY: set it to the output of `openssl rand -base64 32`.',
    );
  }
  const keys = readKeyFile(keyFileOf(settings));
  return keys && new SecretKeys(keys);
}

/** Returns the configured keys, or a new key for a new embedded database. acceptKeys admits one process at a time. */
export function loadSecretKeys(settings: KeySettings): SecretKeys {
  const given = givenSecretKeys(settings);
  if (given) return given;
  const path = keyFileOf(settings);
  mkdirSync(dirname(path), { recursive: true });
  const key = randomBytes(32).toString('base64');
  writeFileSync(`${path}.new`, `${key}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
  return new SecretKeys([readSecretKey(key)]);
}

const OTHERS = 0o077;

/** The file has the format of SECRETS_KEY. To rotate keys, add a new key at the beginning. */
function readKeyFile(path: string): KeyObject[] | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if ((stats.mode & OTHERS) !== 0) {
    throw new SettingError(
      `${path} is readable by other users. Run chmod 600 on it, and replace its keys.`,
    );
  }
  const parts = readFileSync(path, 'utf8')
    .split(/[\s,]+/)
    .filter((part) => part !== '');
  if (parts.length === 0) {
    throw new SettingError(`${path} is empty. Restore the key from a backup.`);
  }
  try {
    return parts.map(readSecretKey);
  } catch (error) {
    throw new SettingError(`${path} ${(error as Error).message}.`);
  }
}
