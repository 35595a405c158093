import { mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareBinaries } from './binaries.js';
import { DATABASE, HOST_BASED_ACCESS, prepareCluster, SMALL_SERVER } from './cluster.js';
import { recordedHome, settleHome, makeSocketDir, removeSocketDir } from './data-home.js';
import { EmbeddedPostgresError, exists, readIfPresent, writeWhole } from './file-system.js';
import { ServerProcess, startPatiently, Supervisor, ServerLog } from './server-process.js';
import { readPostmasterFile, stopPredecessor } from './postmaster-file.js';
import { chooseServerUser, type ServerUser } from './server-user.js';
import { chmodSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

const START_PATIENCE_MS = 30_000;

export interface EmbeddedPostgresOptions {
  /** The cluster is in `<dataDir>/postgres`, unless the user that runs the server cannot reach it. */
  readonly dataDir: string;
  readonly log?: (line: string) => void;
  /** Additional server settings, such as `{ fsync: 'off' }` in tests. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  readonly url: string;
  /** Directory of the data. For root it may be outside DATA_DIR, which matters for backups. */
  readonly cluster: string;
  /** Process id of the current server. A killed server is replaced. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the PostgreSQL server of this application. The first start creates the database. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const undo = new AsyncDisposableStack();
  try {
    return await start(options, undo);
  } catch (error) {
    await undo.disposeAsync().catch(() => undefined);
    throw EmbeddedPostgresError.from(error);
  }
}

/**
 * For commands: joins the server of a service that already runs on this DATA_DIR, or starts one. `stop` does not stop a
 * joined server.
 */
export async function startOrJoin(
  options: EmbeddedPostgresOptions,
): Promise<Omit<EmbeddedPostgres, 'pid'>> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    const urls = error instanceof DataDirInUseError && (await urlsOfRunning(options.dataDir));
    if (!urls) throw error;
    return { ...urls, stop: async () => undefined };
  }
}

/** Waits, because the holder of the lock may still be starting its server. */
async function urlsOfRunning(
  dataDir: string,
): Promise<Omit<EmbeddedPostgres, 'pid' | 'stop'> | undefined> {
  for (const begin = Date.now(); Date.now() - begin < START_PATIENCE_MS; await sleep(50)) {
    const cluster = await clusterOf(dataDir);
    const file = await readPostmasterFile(cluster);
    const password = await readIfPresent(passwordFileIn(dataDir));
    if (file?.ready && password) return { url: urlOf(password.trim(), file.socketDir), cluster };
  }
  return undefined;
}

/** Directory of the cluster. It may not exist yet. */
async function clusterOf(dataDir: string): Promise<string> {
  return join(await recordedHome(dataDir), 'postgres');
}

export async function hasCluster(dataDir: string): Promise<boolean> {
  return exists(await clusterOf(dataDir));
}

function passwordFileIn(dataDir: string): string {
  return join(dataDir, 'postgres.password');
}

function urlOf(password: string, socketDir: string): string {
  return `postgres://${DATABASE}:${password}@localhost/${DATABASE}?host=${encodeURIComponent(socketDir)}`;
}

async function start(
  options: EmbeddedPostgresOptions,
  undo: AsyncDisposableStack,
): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  const claim = (directory: string) => {
    undo.defer(lockDataDir(join(directory, 'postgres.lock'), dataDir));
  };
  claim(dataDir);
  const user = await chooseServerUser(await clusterOf(dataDir));
  const home = await settleHome(dataDir, user, log);
  // Two copies of a DATA_DIR refer to the same directory.
  if (home !== dataDir) claim(home);

  const cluster = join(home, 'postgres');
  await stopPredecessor(cluster, log);
  const binaries = await prepareBinaries(user, home);
  const password = await prepareCluster({
    cluster,
    passwordFile: passwordFileIn(dataDir),
    binaries,
    user,
    durable: options.parameters?.fsync !== 'off',
  });

  const socketDir = await freshSocketDir(dataDir, user, undo);
  const accessFile = join(home, 'postgres.hba.conf');
  await writeWhole(accessFile, HOST_BASED_ACCESS, 0o644);
  const serverLog = await ServerLog.open(join(dataDir, 'postgres.log'));
  undo.defer(() => serverLog.close());

  const parameters = {
    ...SMALL_SERVER,
    hba_file: accessFile,
    unix_socket_directories: `"${socketDir}"`,
    ...options.parameters,
  };
  const { postgres } = binaries;
  const spawnServer = () =>
    ServerProcess.spawn({ postgres, cluster, socketDir, user, log: serverLog, parameters });
  const supervisor = new Supervisor(await startPatiently(spawnServer), spawnServer, log);
  undo.defer(() => supervisor.stop());

  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(password, socketDir),
    cluster,
    get pid() {
      return supervisor.pid;
    },
    stop: () => (stopped ??= undo.disposeAsync()),
  };
}

async function freshSocketDir(
  dataDir: string,
  user: ServerUser,
  undo: AsyncDisposableStack,
): Promise<string> {
  const record = join(dataDir, 'postgres.socket');
  const former = await readIfPresent(record);
  if (former) await removeSocketDir(former, user);
  const socketDir = await makeSocketDir(user);
  await writeWhole(record, socketDir, 0o600);
  undo.defer(async () => {
    await removeSocketDir(socketDir, user);
    await rm(record, { force: true });
  });
  return socketDir;
}

const SQLITE_BUSY = 5;

class DataDirInUseError extends EmbeddedPostgresError {
  constructor(dataDir: string, options: ErrorOptions) {
    super(
      `${dataDir} is in use by another running instance. Stop that instance, or use another DATA_DIR.`,
      options,
    );
  }
}

/**
 * Locks the data directory for one process and returns the release. Node has no flock, but an exclusive SQLite transaction takes the file lock
 * of the kernel. The lock ends with its process, so it is never stale, and the kernel decides between simultaneous
 * starts, also of containers that share the volume.
 *
 * Never open the file in another way: closing any handle of it would drop the lock.
 */
function lockDataDir(file: string, dataDir: string): () => void {
  const sqlite = process.getBuiltinModule('node:sqlite');
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
      `${file} cannot be locked (${message}). The user that starts this service must be able to write to DATA_DIR.`,
      { cause: error },
    );
  }
  const held = database;
  return () => held.close();
}
