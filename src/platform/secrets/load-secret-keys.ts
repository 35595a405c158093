import { type KeyObject, randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
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
import type { Settings } from '../config/settings.js';
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

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** The keys in the file, which is made with one new key when it is not there yet. */
export function readOrCreateKeyFile(path: string): KeyObject[] {
  const present = readKeyFileIfPresent(path);
  if (present) return present;
  createKeyFile(path, randomBytes(32).toString('base64'));
  return readKeyFile(path);
}

export function readKeyFileIfPresent(path: string): KeyObject[] | undefined {
  try {
    return readKeyFile(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return undefined;
  }
}

/** The same form as SECRETS_KEY, so that a key is rotated by writing a new one in front. */
function readKeyFile(path: string): KeyObject[] {
  const file = openSync(path, 'r');
  try {
    if ((fstatSync(file).mode & OTHERS) !== 0) {
      throw new SettingError(
        `${path} can be read by others: chmod 600 it, and think of its keys as known.`,
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
    throw new SettingError(`${path} is empty: put the key back from a backup.`);
  try {
    return parts.map(readSecretKey);
  } catch (error) {
    throw new SettingError(`${path} ${(error as Error).message}.`);
  }
}

/** A whole file appears under its name or none does, and never over another: of two racing starts one key wins. */
export function createKeyFile(path: string, keys: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = draftOf(path);
  try {
    writeDurably(draft, `${keys}\n`);
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function draftOf(path: string): string {
  return `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', OWNER_ONLY);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
