import { type KeyObject, randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SettingError } from '../config/load-settings.js';
import { readSecretKey } from '../config/setting.js';
import { syncFolder } from '../files.js';
import type { Settings } from '../config/settings.js';
import { SecretKeys } from './secret-box.js';

export type KeySettings = Pick<Settings, 'secretsKey' | 'databaseUrl' | 'dataDir'>;

/** Path of the key file, which is used without SECRETS_KEY. */
export function keyFileOf({ dataDir }: KeySettings): string {
  return join(dataDir, 'secrets.key');
}

/**
 * The keys in the setting or the file; `undefined` if the database is embedded and the file does not exist yet. With an
 * external database no key is generated, because all replicas need the same one.
 */
export function givenSecretKeys(settings: KeySettings): SecretKeys | undefined {
  if (settings.secretsKey.length > 0) return new SecretKeys(settings.secretsKey);
  if (settings.databaseUrl !== undefined) {
    throw new SettingError(
      'DATABASE_URL requires SECRETS_KEY: set it to the output of `openssl rand -base64 32`.',
    );
  }
  const keys = readKeyFileIfPresent(keyFileOf(settings));
  return keys && new SecretKeys(keys);
}

/** The given keys, or a new key for a new embedded database: see acceptKeys. */
export function loadSecretKeys(settings: KeySettings): SecretKeys {
  return givenSecretKeys(settings) ?? new SecretKeys(readOrCreateKeyFile(keyFileOf(settings)));
}

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** The keys in the file; creates the file with one new key if it does not exist. */
export function readOrCreateKeyFile(path: string): KeyObject[] {
  const present = readKeyFileIfPresent(path);
  if (present) return present;
  createKeyFile(path, randomBytes(32).toString('base64'));
  return readKeyFile(path);
}

function readKeyFileIfPresent(path: string): KeyObject[] | undefined {
  try {
    return readKeyFile(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return undefined;
  }
}

/** The file has the format of SECRETS_KEY: to rotate, put a new key in front. */
function readKeyFile(path: string): KeyObject[] {
  const file = openSync(path, 'r');
  try {
    if ((fstatSync(file).mode & OTHERS) !== 0) {
      throw new SettingError(
        `${path} is readable by other users. Run chmod 600 on it, and replace its keys.`,
      );
    }
    return parse(path, readFileSync(file, 'utf8'));
  } finally {
    closeSync(file);
  }
}

function parse(path: string, text: string): KeyObject[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  if (parts.length === 0)
    throw new SettingError(`${path} is empty. Restore the key from a backup.`);
  try {
    return parts.map(readSecretKey);
  } catch (error) {
    throw new SettingError(`${path} ${(error as Error).message}.`);
  }
}

/**
 * Creates the file atomically and never replaces one: of two processes that start together, both use the key of the
 * first.
 */
function createKeyFile(path: string, keys: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const options = { flag: 'wx', mode: OWNER_ONLY, flush: true };
  try {
    writeFileSync(draft, `${keys}\n`, options);
    try {
      linkSync(draft, path);
    } catch (error) {
      // Some file systems, such as CIFS, have no hard links.
      if (hasCode(error, 'EEXIST')) throw error;
      writeFileSync(path, `${keys}\n`, options);
    }
    syncFolder(dirname(path));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
