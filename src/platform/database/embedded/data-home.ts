import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { exists, hasCode, isPrivateDirectory, readIfPresent, writeWhole } from './file-system.js';
import { canEnter, type ServerUser } from './server-user.js';

/** Where root keeps clusters that the server's user could not reach in their DATA_DIR; the second when /var is read-only. */
const SYSTEM_HOME = '/var/lib/incident-triage';
const SPARE_HOME_PREFIX = '/var/tmp/incident-triage-';

const recordIn = (dataDir: string): string => join(dataDir, 'postgres.location');

/** The directory that an earlier start recorded, else DATA_DIR itself. */
export async function recordedHome(dataDir: string): Promise<string> {
  return (await readIfPresent(recordIn(dataDir)))?.trim() || dataDir;
}

/**
 * The directory that holds the cluster: DATA_DIR, unless it lies below a directory that the server's user may not pass.
 * A fresh DATA_DIR always gets a fresh place, so that deleting it means a new beginning, never yesterday's data.
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

  const home = await makeHome(dataDir);
  if (!(await canEnter(user, home))) {
    throw new EmbeddedPostgresError(
      `Neither ${dataDir} nor ${home} can be reached by the user with id ${user.uid} that runs PostgreSQL: use another DATA_DIR.`,
    );
  }
  log(`PostgreSQL's user cannot reach ${dataDir}; the data is kept in ${home}`);
  await writeWhole(recordIn(dataDir), `${home}\n`, 0o600);
  await moveCluster(dataDir, home);
  return home;
}

/** When only the mode of DATA_DIR itself is in the way, its group may pass through, nothing more. */
async function letPass(dataDir: string, user: ServerUser): Promise<boolean> {
  const { uid, mode } = await stat(dataDir);
  const closed = uid === 0 && (mode & 0o077) === 0;
  if (!closed || !(await canEnter(user, dirname(dataDir)))) return false;
  await chown(dataDir, uid, user.gid);
  await chmod(dataDir, 0o710);
  return canEnter(user, dataDir);
}

async function makeHome(dataDir: string): Promise<string> {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
  let prefix = `${SPARE_HOME_PREFIX}${name}-`;
  try {
    await mkdir(SYSTEM_HOME, { mode: 0o711 });
    await chmod(SYSTEM_HOME, 0o711);
  } catch (error) {
    if (!hasCode(error, 'EEXIST', 'EROFS', 'EACCES', 'EPERM', 'ENOENT')) throw error;
  }
  if ((await exists(SYSTEM_HOME)) && (await isPrivateDirectory(SYSTEM_HOME))) {
    prefix = join(SYSTEM_HOME, `${name}-`);
  }
  const home = await mkdtemp(prefix);
  await chmod(home, 0o711);
  return home;
}

async function verifyHome(home: string, dataDir: string): Promise<void> {
  if (!(await exists(home))) {
    throw new EmbeddedPostgresError(
      `${home}, where ${recordIn(dataDir)} says the data is, does not exist: restore it, or remove that file to begin anew.`,
    );
  }
  if (!(await isPrivateDirectory(home))) {
    throw new EmbeddedPostgresError(
      `${home}, where ${recordIn(dataDir)} says the data is, can be changed by other users: refusing to use it.`,
    );
  }
}

/** A DATA_DIR that was moved to where the server's user cannot follow takes its cluster along. */
async function moveCluster(dataDir: string, home: string): Promise<void> {
  const from = join(dataDir, 'postgres');
  const to = join(home, 'postgres');
  if (!(await exists(from)) || (await exists(to))) return;
  try {
    await rename(from, to);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `PostgreSQL's user cannot reach ${from}: move it to ${to} by hand, keeping its owner (mv).`,
      { cause: error },
    );
  }
}
