import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastComplaint, pathFor, run, SERVER_ENVIRONMENT, type ServerUser } from './cluster.js';

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

/** Compares the working directory. A live process alone is no proof, because process ids are reused. */
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
const SHUTDOWN_MS = 10_000;

/** Requests a fast and then, if necessary, an immediate shutdown. Both are safe for the data. */
async function shutDown(pid: number, isOver: () => boolean): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (!isOver() && isAlive(pid)) process.kill(pid, signal);
    for (let waited = 0; waited < SHUTDOWN_MS; waited += POLL_MS) {
      if (isOver()) return;
      await sleep(POLL_MS);
    }
  }
  throw new Error(`The PostgreSQL server (pid ${pid}) does not stop. Stop it manually.`);
}

/** Stops the server of a killed service. The caller holds the lock of DATA_DIR, so no live service uses the server. */
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
    await shutDown(pid, () => !servesCluster(pid, cluster));
  } else if (isAlive(pid)) {
    // postgres replaces the pid file of a dead server, but not if another program now has this process id.
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
  }
  removeSocketDir(socketDir, user);
}

/** Deletes the directory as the server user, because that user may have replaced the path. */
export function removeSocketDir(directory: string, user: ServerUser): void {
  run(user, '/bin/sh', ['-c', 'rm -f "$1"/.s.PGSQL.*; rmdir "$1"', 'sh', directory]);
}

export interface ServerCommand {
  readonly programs: string;
  readonly cluster: string;
  readonly socketDir: string;
  readonly user: ServerUser;
  readonly logFile: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * The shell starts an orphan guard and then becomes postgres. If node ends for any reason, the kernel closes the pipe,
 * and the guard requests a fast shutdown of postgres. A line on the pipe ends the guard. The guard is forked twice,
 * because postgres must not have unknown child processes.
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
/** Errors that disappear when the processes of a killed server have ended. */
const PASSING = /shared memory block|lock file/;
const PATIENCE_MS = 10_000;
const PAUSE_MS = 100;

/** Runs postgres, and restarts it whenever it ends, until `stop` is called. The pools of the service reconnect. */
export class Server {
  private child!: ChildProcess;
  private stopping = false;

  constructor(
    private readonly command: ServerCommand,
    private readonly log: (line: string) => void,
  ) {}

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async start(): Promise<void> {
    for (const begin = Date.now(); ; await sleep(PAUSE_MS)) {
      try {
        return await this.launch();
      } catch (error) {
        const isPassing = PASSING.test((error as Error).message);
        if (!isPassing || Date.now() - begin > PATIENCE_MS) throw error;
      }
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await shutDown(this.pid, () => hasEnded(this.child));
  }

  private async launch(): Promise<void> {
    const { cluster, logFile } = this.command;
    const log = openSync(logFile, 'a', 0o600);
    const logStart = fstatSync(log).size;
    const child = spawnGuarded(this.command, log);
    closeSync(log);
    this.child = child;
    for (let waited = 0; waited < LONGEST_START_MS; waited += POLL_MS) {
      if (hasEnded(child)) {
        const said = readFileSync(logFile).subarray(logStart).toString();
        throw new Error(`PostgreSQL did not start: ${lastComplaint(said)} (see ${logFile})`);
      }
      const file = readPostmasterFile(cluster);
      if (file?.pid === child.pid && file?.ready) {
        child.once('exit', () => void this.restart());
        return;
      }
      await sleep(POLL_MS);
    }
    await shutDown(this.pid, () => hasEnded(child));
    throw new Error(`PostgreSQL was not ready after ${LONGEST_START_MS / 1000} s (see ${logFile})`);
  }

  private async restart(): Promise<void> {
    if (this.stopping) return;
    this.log(`The PostgreSQL server (pid ${this.pid}) ended. It restarts.`);
    for (let pause = PAUSE_MS; ; pause = Math.min(pause * 2, 5_000)) {
      await sleep(pause, undefined, { ref: false });
      if (this.stopping) return;
      try {
        await this.launch();
        return this.log(`The PostgreSQL server runs again (pid ${this.pid}).`);
      } catch (error) {
        if (!this.stopping) this.log((error as Error).message);
      }
    }
  }
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}

/** @param log a file, because a pipe would need a reader at all times, even while this process ends */
function spawnGuarded(command: ServerCommand, log: number): ChildProcess {
  const { programs, cluster, socketDir, user, parameters } = command;
  const settings = Object.entries(parameters).map(([name, value]) => `--${name}=${value}`);
  const program = [join(programs, 'bin/postgres'), '-D', pathFor(user, cluster), ...settings];
  const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', socketDir, ...program], {
    ...user,
    cwd: cluster,
    env: SERVER_ENVIRONMENT,
    // Runs in its own process group: Ctrl-C must reach only the service, which needs the server during its shutdown.
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
  });
  child.unref();
  const guard = child.stdio[3] as Socket;
  guard.on('error', () => undefined).unref();
  child.on('error', () => undefined).once('exit', () => guard.end('dismissed\n'));
  return child;
}
