import { chown, lstat, mkdtemp, readdir, realpath, rmdir, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { canEnter, type ServerUser } from './server-user.js';

const PREFIX = 'incident-triage-';
/** 103 bytes are the least that any supported system allows for a socket's path; the rest is our directory and `.s.PGSQL.5432`. */
const LONGEST_ROOT = 103 - `/${PREFIX}XXXXXX/.s.PGSQL.5432`.length;

/** A directory for short-lived files that the server's user can reach and where nobody can replace what is ours. */
export async function temporaryRoot(user: ServerUser): Promise<string> {
  for (const candidate of [tmpdir(), '/tmp', '/var/tmp']) {
    const root = await realpath(candidate).catch(() => undefined);
    if (
      root !== undefined &&
      Buffer.byteLength(root) <= LONGEST_ROOT &&
      (await keepsOthersOut(root)) &&
      (await canEnter(user, root))
    ) {
      return root;
    }
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL's user finds no usable directory for temporary files (tried ${tmpdir()}, /tmp and /var/tmp): set TMPDIR.`,
  );
}

async function keepsOthersOut(directory: string): Promise<boolean> {
  const { uid, mode } = await stat(directory);
  const sticky = (mode & 0o1000) !== 0;
  return (uid === 0 || uid === process.getuid?.()) && (sticky || (mode & 0o022) === 0);
}

/** The socket needs a short path, which DATA_DIR cannot promise. */
export async function makeSocketDir(root: string, user: ServerUser): Promise<string> {
  const directory = await mkdtemp(join(root, PREFIX));
  if (user.dropped) await chown(directory, user.uid, user.gid);
  return directory;
}

/** Removes only what postgres puts there, and follows no link: the directory belongs to the server's user. */
export async function removeSocketDir(directory: string, user: ServerUser): Promise<void> {
  try {
    const stats = await lstat(directory);
    if (!basename(directory).startsWith(PREFIX) || !stats.isDirectory() || stats.uid !== user.uid) {
      return;
    }
    for (const name of await readdir(directory)) {
      if (name.startsWith('.s.PGSQL.')) await unlink(join(directory, name));
    }
    await rmdir(directory);
  } catch {
    // What cannot be removed is left to the system's own care for temporary files.
  }
}
