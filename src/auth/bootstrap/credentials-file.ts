import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Credentials {
  readonly username: string;
  readonly password?: string;
  readonly api_key?: string;
}

const OWNER_ONLY = 0o600;

/** A whole file or none, and never readable by others, not even for a moment. Answers where it is. */
export function writeCredentials(dataDir: string, credentials: Credentials): string {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, 'bootstrap-credentials.json');
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  const file = openSync(draft, 'wx', OWNER_ONLY);
  try {
    writeFileSync(file, `${JSON.stringify(credentials, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  return path;
}
