import { mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareBinaries } from './binaries.js';
import {
  DATABASE,
  HOST_BASED_ACCESS,
  prepareCluster,
  SERVICE_ROLE,
  SMALL_SERVER,
} from './cluster.js';
import { DataDirInUseError, lockDataDir } from './data-dir-lock.js';
import { recordedHome, settleHome } from './data-home.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { exists, readIfPresent, writeWhole } from './file-system.js';
import { ServerProcess, startPatiently } from './server-process.js';
import { readPostmasterFile, stopPredecessor } from './postmaster-file.js';
import { ServerLog } from './server-log.js';
import { chooseServerUser, type ServerUser } from './server-user.js';
import { Supervisor } from './supervisor.js';
import { makeSocketDir, removeSocketDir, temporaryRoot } from './temporary-root.js';

export { EmbeddedPostgresError } from './embedded-postgres-error.js';

const START_PATIENCE_MS = 30_000;

export interface EmbeddedPostgresOptions {
  /** The cluster lives in `<dataDir>/postgres`, unless the OS user that runs the server cannot reach that. */
  readonly dataDir: string;
  readonly log?: (line: string) => void;
  /** Further settings of the server, e.g. `{ fsync: 'off' }` in tests. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** Of the role that owns the database. */
  readonly url: string;
  /** Of the role that the service runs as. */
  readonly serviceUrl: string;
  /** Where the data is: as root it may be elsewhere than in DATA_DIR, and whoever makes backups has to know. */
  readonly cluster: string;
  /** Of the server that runs now: a killed one is replaced by another at the same place. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL server of this application's own; the database is made on first start. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const undo = new UndoList();
  try {
    return await start(options, undo);
  } catch (error) {
    await undo.run().catch(() => undefined);
    throw EmbeddedPostgresError.from(error);
  }
}

/**
 * For a command: the server of a service that runs already on this DATA_DIR, or else one of its own. `stop` leaves the
 * server of the other alone.
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

/** The holder of the lock may still be starting its server. */
async function urlsOfRunning(
  dataDir: string,
): Promise<Omit<EmbeddedPostgres, 'pid' | 'stop'> | undefined> {
  for (const begin = Date.now(); Date.now() - begin < START_PATIENCE_MS; await sleep(50)) {
    const cluster = await clusterOf(dataDir);
    const file = await readPostmasterFile(cluster);
    const owner = await readIfPresent(passwordFileIn(dataDir));
    const service = await readIfPresent(servicePasswordFileIn(dataDir));
    if (!file?.ready || !owner || !service) continue;
    return {
      url: urlOf(DATABASE, owner.trim(), file.socketDir),
      serviceUrl: urlOf(SERVICE_ROLE, service.trim(), file.socketDir),
      cluster,
    };
  }
  return undefined;
}

/** Where the cluster of this DATA_DIR is; it may not be there yet. */
async function clusterOf(dataDir: string): Promise<string> {
  return join(await recordedHome(dataDir), 'postgres');
}

export async function hasCluster(dataDir: string): Promise<boolean> {
  return exists(await clusterOf(dataDir));
}

function passwordFileIn(dataDir: string): string {
  return join(dataDir, 'postgres.password');
}

function servicePasswordFileIn(dataDir: string): string {
  return join(dataDir, 'postgres.service-password');
}

function urlOf(role: string, password: string, socketDir: string): string {
  return `postgres://${role}:${password}@localhost/${DATABASE}?host=${encodeURIComponent(socketDir)}`;
}

async function start(options: EmbeddedPostgresOptions, undo: UndoList): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  const claim = (directory: string) => {
    const lock = lockDataDir(join(directory, 'postgres.lock'), dataDir);
    undo.add(() => lock.release());
  };
  claim(dataDir);
  const user = await chooseServerUser(await clusterOf(dataDir));
  const temporary = await temporaryRoot(user);
  const binaries = await prepareBinaries(user, temporary);
  const home = await settleHome(dataDir, user, log);
  // Two copies of a DATA_DIR name the same place outside.
  if (home !== dataDir) claim(home);

  const cluster = join(home, 'postgres');
  await stopPredecessor(cluster, log);
  const passwords = await prepareCluster({
    cluster,
    passwordFile: passwordFileIn(dataDir),
    servicePasswordFile: servicePasswordFileIn(dataDir),
    binaries,
    user,
    durable: options.parameters?.fsync !== 'off',
  });

  const socketDir = await freshSocketDir(dataDir, temporary, user, undo);
  const accessFile = join(home, 'postgres.hba.conf');
  await writeWhole(accessFile, HOST_BASED_ACCESS, 0o644);
  const serverLog = await ServerLog.open(join(dataDir, 'postgres.log'));
  undo.add(() => serverLog.close());

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
  undo.add(() => supervisor.stop());

  return {
    url: urlOf(DATABASE, passwords.owner, socketDir),
    serviceUrl: urlOf(SERVICE_ROLE, passwords.service, socketDir),
    cluster,
    get pid() {
      return supervisor.pid;
    },
    stop: () => undo.run(),
  };
}

async function freshSocketDir(
  dataDir: string,
  temporary: string,
  user: ServerUser,
  undo: UndoList,
): Promise<string> {
  const record = join(dataDir, 'postgres.socket');
  const former = await readIfPresent(record);
  if (former) await removeSocketDir(former, user);
  const socketDir = await makeSocketDir(temporary, user);
  await writeWhole(record, socketDir, 0o600);
  undo.add(async () => {
    await removeSocketDir(socketDir, user);
    await rm(record, { force: true });
  });
  return socketDir;
}

/** What was set up, taken back in reverse order, once. */
class UndoList {
  private readonly steps: (() => unknown)[] = [];
  private done?: Promise<void>;

  add(step: () => unknown): void {
    this.steps.push(step);
  }

  run(): Promise<void> {
    return (this.done ??= this.takeBack());
  }

  /** A step that fails does not keep the others, the lock above all, from being taken back. */
  private async takeBack(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.steps.reverse()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
