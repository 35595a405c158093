import { chmodSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

export interface DataDirLock {
  release(): void;
}

const SQLITE_BUSY = 5;

export class DataDirInUseError extends EmbeddedPostgresError {
  constructor(dataDir: string, options: ErrorOptions) {
    super(
      `${dataDir} is in use by another running instance: stop it first, or give this one its own DATA_DIR.`,
      options,
    );
  }
}

/**
 * One application per data directory. Node has no flock of its own, but its SQLite takes the kernel's lock on the file
 * for an exclusive transaction: the lock ends with its process, however that dies, so none is ever stale, and two
 * simultaneous starts are decided by the kernel, also between containers that share the volume.
 *
 * Never open the file by other means: closing any handle of it would drop the lock of this process.
 */
export function lockDataDir(file: string, dataDir: string): DataDirLock {
  const sqlite = process.getBuiltinModule('node:sqlite') as
    typeof import('node:sqlite') | undefined;
  if (!sqlite) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL needs Node.js 22.13 or newer (this is ${process.version}): use npm start, or set DATABASE_URL.`,
    );
  }
  let database: DatabaseSync | undefined;
  try {
    database = new sqlite.DatabaseSync(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    chmodSync(file, 0o600);
  } catch (error) {
    database?.close();
    const { errcode, message } = error as { errcode?: number; message: string };
    if (errcode === SQLITE_BUSY) throw new DataDirInUseError(dataDir, { cause: error });
    throw new EmbeddedPostgresError(
      `${file} cannot be locked (${message}): DATA_DIR must be writable by the user who starts this service.`,
      { cause: error },
    );
  }
  const held = database;
  return { release: () => held.close() };
}
