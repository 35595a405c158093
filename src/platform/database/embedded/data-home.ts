import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  rename,
  stat,
  lstat,
  readdir,
  realpath,
  rmdir,
  unlink,
} from 'node:fs/promises';
import { dirname, join, basename } from 'node:path';
import {
  EmbeddedPostgresError,
  exists,
  isPrivateDirectory,
  readIfPresent,
  writeWhole,
} from './file-system.js';
import { canEnter, type ServerUser } from './server-user.js';
import { tmpdir } from 'node:os';

/** Where root keeps clusters that the server user could not reach in DATA_DIR. */
const SYSTEM_HOME = '/var/lib/incident-triage';

const recordIn = (dataDir: string): string => join(dataDir, 'postgres.location');

/** The directory recorded by an earlier start, or else DATA_DIR. */
export async function recordedHome(dataDir: string): Promise<string> {
  return (await readIfPresent(recordIn(dataDir)))?.trim() || dataDir;
}

/**
 * Returns the directory of the cluster: DATA_DIR, unless the server user may not pass one of its parents. A new
 * DATA_DIR always gets a new directory, so that deleting DATA_DIR never brings back old data.
 */
export async function settleHome(
  dataDir: string,
  user: ServerUser,
  log: (line: string) => void,
): Promise<string> {
  const recorded = await recordedHome(dataDir);
  if (recorded !== dataDir) {
    await verifyHome(recorded, dataDir);
    await moveCluster(dataDir, recorded);
    return recorded;
  }
  if (await canEnter(user, dataDir)) return dataDir;
  if (await letPass(dataDir, user)) return dataDir;

  const home = await makeHome();
  if (!(await canEnter(user, home))) {
    throw new EmbeddedPostgresError(
      `Neither ${dataDir} nor ${home} can be reached by the user with id ${user.uid}, which runs PostgreSQL. Use another DATA_DIR.`,
    );
  }
  log(`The user that runs PostgreSQL cannot reach ${dataDir}. The data is stored in ${home}.`);
  await writeWhole(recordIn(dataDir), `${home}\n`, 0o600);
  await moveCluster(dataDir, home);
  return home;
}

/** If only the mode of DATA_DIR blocks the server user, allows its group to pass through. */
async function letPass(dataDir: string, user: ServerUser): Promise<boolean> {
  const { uid, mode } = await stat(dataDir);
  const closed = uid === 0 && (mode & 0o077) === 0;
  if (!closed || !(await canEnter(user, dirname(dataDir)))) return false;
  await chown(dataDir, uid, user.gid);
  await chmod(dataDir, 0o710);
  return canEnter(user, dataDir);
}

async function makeHome(): Promise<string> {
  if (await mkdir(SYSTEM_HOME, { recursive: true })) await chmod(SYSTEM_HOME, 0o711);
  if (!(await isPrivateDirectory(SYSTEM_HOME))) {
    throw new EmbeddedPostgresError(
      `${SYSTEM_HOME} must belong to root, and other users must not be able to write to it.`,
    );
  }
  const home = await mkdtemp(join(SYSTEM_HOME, 'data-'));
  await chmod(home, 0o711);
  return home;
}

async function verifyHome(home: string, dataDir: string): Promise<void> {
  if (!(await exists(home))) {
    throw new EmbeddedPostgresError(
      `${home}, the location of the data according to ${recordIn(dataDir)}, does not exist. Restore it, or remove that file to start with an empty database.`,
    );
  }
  if (!(await isPrivateDirectory(home))) {
    throw new EmbeddedPostgresError(
      `${home}, the location of the data according to ${recordIn(dataDir)}, must not be writable by other users.`,
    );
  }
}

/** Moves the cluster along if DATA_DIR was moved to a place that the server user cannot reach. */
async function moveCluster(dataDir: string, home: string): Promise<void> {
  const from = join(dataDir, 'postgres');
  const to = join(home, 'postgres');
  if (!(await exists(from)) || (await exists(to))) return;
  try {
    await rename(from, to);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The user that runs PostgreSQL cannot reach ${from}. Move it to ${to} with mv, which keeps the owner.`,
      { cause: error },
    );
  }
}

const PREFIX = 'incident-triage-';
/**
 * Socket paths may have at least 103 bytes on every supported system; the rest is the directory and `.s.PGSQL.5432`.
 */
const LONGEST_ROOT = 103 - `/${PREFIX}XXXXXX/.s.PGSQL.5432`.length;

/** Returns a directory that the server user can reach and in which other users cannot replace files. */
async function temporaryRoot(user: ServerUser): Promise<string> {
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
    `The user that runs PostgreSQL has no usable directory for temporary files (tried ${tmpdir()}, /tmp and /var/tmp). Set TMPDIR.`,
  );
}

async function keepsOthersOut(directory: string): Promise<boolean> {
  const { uid, mode } = await stat(directory);
  const sticky = (mode & 0o1000) !== 0;
  return (uid === 0 || uid === process.getuid?.()) && (sticky || (mode & 0o022) === 0);
}

/** The socket needs a short path, which DATA_DIR does not guarantee. */
export async function makeSocketDir(user: ServerUser): Promise<string> {
  const directory = await mkdtemp(join(await temporaryRoot(user), PREFIX));
  if (user.dropped) await chown(directory, user.uid, user.gid);
  return directory;
}

/** Removes only the socket files and follows no link, because the directory belongs to the server user. */
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
    // The cleanup of temporary files will remove the rest.
  }
}
