import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DATABASE,
  prepareCluster,
  preparePrograms,
  serverUserOf,
  SMALL_SERVER,
} from './cluster.js';
import { endPredecessor, readPostmasterFile, removeSocketDir, Server } from './server.js';

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log?: (line: string) => void;
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  readonly url: string;
  readonly cluster: string;
  /** Process id of the current server. It changes when a killed server is replaced. */
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startEmbeddedPostgres({
  dataDir: given,
  log = () => undefined,
  parameters,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await using undo = new AsyncDisposableStack();
  undo.defer(lockDataDir(given));
  const dataDir = realpathSync(given);
  if (existsSync(join(dataDir, 'postgres.password'))) {
    throw new Error(
      `A version before 0.1.0 created ${dataDir}, and this release cannot read its data. Use another DATA_DIR, or delete this folder.`,
    );
  }
  const cluster = join(dataDir, 'postgres');
  const user = serverUserOf(cluster);
  await endPredecessor(cluster, user, log);
  const programs = preparePrograms(user, dataDir);
  prepareCluster({ cluster, programs, user, durable: parameters?.['fsync'] !== 'off' });

  // A path in DATA_DIR or TMPDIR may be too long for a socket, or inaccessible to the server user.
  const socketDir = mkdtempSync('/tmp/incident-triage-');
  if (user.uid !== undefined) chownSync(socketDir, user.uid, user.gid!);
  undo.defer(() => removeSocketDir(socketDir, user));
  const logFile = join(dataDir, 'postgres.log');
  const settings = { ...SMALL_SERVER, unix_socket_directories: `"${socketDir}"`, ...parameters };
  const command = { programs, cluster, socketDir, user, logFile, parameters: settings };
  const server = new Server(command, log);
  undo.defer(() => server.stop());
  await server.start();

  const started = undo.move();
  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(socketDir),
    cluster,
    get pid() {
      return server.pid;
    },
    stop: () => (stopped ??= started.disposeAsync()),
  };
}

const JOIN_MS = 30_000;

/** Uses the server of a running service, or starts a server. `stop` stops only a server that was started here. */
export async function startOrJoin(
  options: EmbeddedPostgresOptions,
): Promise<Omit<EmbeddedPostgres, 'pid'>> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    const cluster = join(realpathSync(options.dataDir), 'postgres');
    // The service may still be starting its server.
    for (const begin = Date.now(); Date.now() - begin < JOIN_MS; await sleep(50)) {
      const file = readPostmasterFile(cluster);
      if (file?.ready) return { url: urlOf(file.socketDir), cluster, stop: async () => undefined };
    }
    throw error;
  }
}

function urlOf(socketDir: string): string {
  return `postgres://${DATABASE}@localhost/${DATABASE}?host=${encodeURIComponent(socketDir)}`;
}

const SQLITE_BUSY = 5;

class DataDirInUseError extends Error {}

/** An SQLite transaction is the lock, as Node has no flock. Closing any other handle of the file releases the lock. */
function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'postgres.lock');
  try {
    // mkdirSync never returns for a new folder in /proc.
    if (resolve(dataDir).startsWith('/proc/')) throw new Error('/proc stores no files');
    mkdirSync(dataDir, { recursive: true });
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const database = new DatabaseSync(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    chmodSync(file, 0o600);
    return () => database.close();
  } catch (cause) {
    const { errcode, message } = cause as { errcode?: number; message: string };
    if (errcode !== SQLITE_BUSY) {
      throw new Error(
        `DATA_DIR ${dataDir} cannot be used (${message}). The user that starts the service must be able to write to this folder.`,
        { cause },
      );
    }
    throw new DataDirInUseError(
      `${dataDir} is in use by another running instance. Stop that instance, or use another DATA_DIR.`,
      { cause },
    );
  }
}
