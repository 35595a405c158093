import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  EmbeddedPostgresError,
  lastComplaint,
  pathFor,
  run,
  SERVER_ENVIRONMENT,
  type ServerUser,
} from './cluster.js';

interface PostmasterFile {
  readonly pid: number;
  readonly socketDir: string;
  readonly ready: boolean;
}

export function readPostmasterFile(cluster: string): PostmasterFile | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  return { pid, socketDir: lines[4] ?? '', ready: lines[7]?.trim() === 'ready' };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** True if the process works in the directory of the cluster. Process ids are reused, so a live process is no proof. */
export function servesCluster(pid: number, cluster: string): boolean {
  if (process.platform !== 'linux') {
    const { stdout } = run({}, 'ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return stdout.includes(`/postgres -D ${cluster} `);
  }
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === cluster;
  } catch {
    return false;
  }
}

const POLL_MS = 10;
/** Signals of a shutdown with their timeouts in ms. Data is safe after each signal. */
const SHUTDOWN: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
];

/** Stops the server of a killed service. The caller holds the lock, so no live service uses the server. */
export async function endPredecessor(
  cluster: string,
  user: ServerUser,
  log: (line: string) => void,
): Promise<void> {
  const left = readPostmasterFile(cluster);
  if (!left) return;
  const { pid, socketDir } = left;
  if (servesCluster(pid, cluster)) {
    log(`Stopping the PostgreSQL server (pid ${pid}) of a previous instance.`);
    await endProcess(pid, cluster);
  } else if (isAlive(pid)) {
    // postgres accepts the file of a dead server, but not a file whose process id now belongs to another program.
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
  }
  removeSocketDir(socketDir, user);
}

async function endProcess(pid: number, cluster: string): Promise<void> {
  for (const [signal, patienceMs] of SHUTDOWN) {
    if (isAlive(pid)) process.kill(pid, signal);
    for (let waited = 0; waited < patienceMs; waited += POLL_MS) {
      if (!servesCluster(pid, cluster)) return;
      await sleep(POLL_MS);
    }
  }
  throw new EmbeddedPostgresError(
    `The PostgreSQL server of a previous instance (pid ${pid}) does not stop. Stop it manually.`,
  );
}

/** Runs as the server user, because that user may have changed the path. */
export function removeSocketDir(directory: string, user: ServerUser): void {
  run(user, '/bin/sh', ['-c', 'rm -f "$1"/.s.PGSQL.*; rmdir "$1"', 'sh', directory]);
}

export interface ServerCommand {
  readonly postgres: string;
  readonly cluster: string;
  readonly socketDir: string;
  readonly user: ServerUser;
  readonly logFile: string;
  /** Open for appending. A pipe would need a reader at all times, even while this process ends. */
  readonly logDescriptor: number;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * The shell starts an orphan guard and becomes postgres. When node ends for any reason, the kernel closes the pipe, and
 * the guard requests a fast shutdown of postgres. A line on the pipe ends the guard. The guard is forked twice, because
 * postgres must not have unknown child processes.
 */
const GUARDED = `
socket_dir=$1; shift
( ( cd /; trap '' INT TERM HUP
    read -r dismissed <&3 && exit
    kill -INT $$
    for pause in 1 2 4 8; do sleep $pause; rmdir "$socket_dir" && exit; done
  ) >/dev/null 2>&1 & )
exec "$@" 3<&-`;

const LONGEST_START_MS = 120_000;

class ServerProcess {
  readonly exited: Promise<void>;
  private readonly child: ChildProcess;
  private readonly logStart: number;
  private ended = false;

  constructor(private readonly command: ServerCommand) {
    const { postgres, cluster, socketDir, user, logFile, logDescriptor, parameters } = command;
    this.logStart = statSync(logFile).size;
    const settings = Object.entries(parameters).map(([name, value]) => `--${name}=${value}`);
    const program = [postgres, '-D', pathFor(user, cluster), ...settings];
    this.child = spawn('/bin/sh', ['-c', GUARDED, 'sh', socketDir, ...program], {
      ...user,
      cwd: cluster,
      env: SERVER_ENVIRONMENT,
      // Own process group: Ctrl-C must reach only the service, which needs the server during its shutdown.
      detached: true,
      stdio: ['ignore', logDescriptor, logDescriptor, 'pipe'],
    });
    this.child.unref();
    const guard = this.child.stdio[3] as Socket | undefined;
    guard?.on('error', () => undefined);
    guard?.unref();
    this.exited = new Promise((resolve) => {
      const end = () => {
        this.ended = true;
        guard?.end('dismissed\n');
        resolve();
      };
      this.child.once('exit', end).once('error', end);
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async ready(): Promise<void> {
    const { cluster, logFile } = this.command;
    for (let waited = 0; waited < LONGEST_START_MS; waited += POLL_MS) {
      if (this.ended) {
        const said = readFileSync(logFile).subarray(this.logStart).toString();
        throw new EmbeddedPostgresError(
          `PostgreSQL did not start: ${lastComplaint(said)} (see ${logFile})`,
        );
      }
      const file = readPostmasterFile(cluster);
      if (file?.pid === this.pid && file.ready) return;
      await sleep(POLL_MS);
    }
    await this.stop();
    throw new EmbeddedPostgresError(
      `PostgreSQL was not ready after ${LONGEST_START_MS / 1000} s (see ${logFile})`,
    );
  }

  async stop(): Promise<void> {
    this.child.ref();
    for (const [signal, patienceMs] of SHUTDOWN) {
      if (this.ended) return;
      this.child.kill(signal);
      await Promise.race([this.exited, sleep(patienceMs, undefined, { ref: false })]);
    }
  }
}

/** Temporary errors while the processes of a killed server end. */
const PASSING = /shared memory block|lock file/;
const PATIENCE_MS = 10_000;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** Restarts the server when it ends, until `stop`. The pools of the service reconnect. */
export class Supervisor {
  private server: ServerProcess;
  private stopping = false;

  constructor(
    private readonly command: ServerCommand,
    private readonly log: (line: string) => void,
  ) {
    this.server = new ServerProcess(command);
  }

  get pid(): number {
    return this.server.pid;
  }

  async start(): Promise<void> {
    for (const begin = Date.now(); ; this.server = new ServerProcess(this.command)) {
      try {
        await this.server.ready();
        void this.watch();
        return;
      } catch (error) {
        const isPassing = PASSING.test((error as Error).message);
        if (!isPassing || Date.now() - begin > PATIENCE_MS) throw error;
        await sleep(100);
      }
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.server.stop();
  }

  private async watch(): Promise<void> {
    for (let pause = SHORTEST_PAUSE_MS; ;) {
      await this.server.exited;
      if (this.stopping) return;
      this.log(`The PostgreSQL server (pid ${this.pid}) ended. It restarts in ${pause} ms.`);
      await sleep(pause, undefined, { ref: false });
      if (this.stopping) return;
      this.server = new ServerProcess(this.command);
      try {
        await this.server.ready();
        this.log(`The PostgreSQL server runs again (pid ${this.pid}).`);
        pause = SHORTEST_PAUSE_MS;
      } catch (error) {
        if (!this.stopping) this.log((error as Error).message);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
  }
}
