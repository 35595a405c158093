import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './file-system.js';
import { readPostmasterFile } from './postmaster-file.js';
import { SERVER_ENVIRONMENT, type ServerUser } from './server-user.js';
import { copyFile, type FileHandle, open, readFile } from 'node:fs/promises';

const LONGEST = 1024 * 1024;
const CHECK_EVERY_MS = 60_000;

/** Log file of postgres. A pipe would have to be read all the time, even by a dying process. */
export class ServerLog {
  private readonly timer: NodeJS.Timeout;

  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
  ) {
    this.timer = setInterval(() => void this.shorten().catch(() => undefined), CHECK_EVERY_MS);
    this.timer.unref();
  }

  static async open(path: string): Promise<ServerLog> {
    // For appending, so that postgres continues at the start of a truncated file.
    const log = new ServerLog(path, await open(path, 'a', 0o600));
    await log.file.chmod(0o600);
    await log.shorten();
    return log;
  }

  get descriptor(): number {
    return this.file.fd;
  }

  /** Keeps one older file, so both together stay near twice the limit. */
  private async shorten(): Promise<void> {
    if ((await this.size()) <= LONGEST) return;
    await copyFile(this.path, `${this.path}.1`);
    await this.file.truncate();
  }

  async size(): Promise<number> {
    return (await this.file.stat()).size;
  }

  /** Why the server that started to log at this position ended. */
  async complaintSince(position: number): Promise<string> {
    const content = await readFile(this.path);
    return lastComplaint(content.subarray(Math.min(position, content.length)).toString());
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.file.close();
  }
}

const SEVERITY = /^.*?(?:FATAL|PANIC|ERROR|fatal|error): +/;

/** The last error message without its hints; if no line has a severity, the last line. */
export function lastComplaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const grave = lines.filter((line) => SEVERITY.test(line)).at(-1);
  return (grave ?? lines.at(-1) ?? 'it gave no reason').replace(SEVERITY, '').trim();
}

interface ServerCommand {
  readonly postgres: string;
  readonly cluster: string;
  readonly socketDir: string;
  readonly user: ServerUser;
  readonly log: ServerLog;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * The shell starts an orphan guard of 1 MB, which waits at the end of a pipe, and then becomes postgres. When node ends
 * in any way, the kernel closes the pipe; the guard then asks postgres for a fast shutdown and removes the empty socket
 * directory. A line on the pipe dismisses the guard. The guard exists before postgres, so killing node never leaves a
 * server behind. The guard is forked twice, because postgres minds unknown children.
 */
const GUARDED = `
socket_dir=$1; shift
( ( trap '' INT TERM HUP
    read -r dismissed <&3 && exit
    kill -INT $$
    for pause in 1 2 4 8; do sleep $pause; rmdir "$socket_dir" && exit; done
  ) >/dev/null 2>&1 & )
exec "$@" 3<&-`;

const POLL_MS = 5;
const LONGEST_START_MS = 120_000;
/** Fast shutdown, then stronger signals. Data is safe after each of them. */
const SHUTDOWN: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
];

/** One process of postgres. */
export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly command: ServerCommand,
    private readonly logStart: number,
    readonly exited: Promise<void>,
  ) {}

  static async spawn(command: ServerCommand): Promise<ServerProcess> {
    const { postgres, cluster, socketDir, user, log, parameters } = command;
    const settings = Object.entries(parameters).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const logStart = await log.size();
    const child = spawn(
      '/bin/sh',
      ['-c', GUARDED, 'sh', socketDir, postgres, '-D', cluster, ...settings],
      {
        ...(user.dropped ? { uid: user.uid, gid: user.gid } : {}),
        cwd: '/',
        env: SERVER_ENVIRONMENT,
        // Own process group: Ctrl-C must reach only the application, which needs the server while it drains.
        detached: true,
        stdio: ['ignore', log.descriptor, log.descriptor, 'pipe'],
      },
    );
    const guard = child.stdio[3] as Socket;
    guard.on('error', () => undefined);
    guard.unref();
    child.unref();
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        guard.end('dismissed\n');
        resolve();
      });
    });
    await new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return new ServerProcess(child, command, logStart, exited);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  private get ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Resolves when the server accepts connections; rejects with the error of the server if it ends. */
  async ready(): Promise<void> {
    for (const start = Date.now(); Date.now() - start < LONGEST_START_MS; await sleep(POLL_MS)) {
      if (this.ended) {
        const complaint = await this.command.log.complaintSince(this.logStart);
        throw new EmbeddedPostgresError(
          `PostgreSQL did not start: ${complaint} (see ${this.command.log.path})`,
        );
      }
      const file = await readPostmasterFile(this.command.cluster);
      if (file?.pid === this.pid && file.ready) return;
    }
    await this.stop();
    throw new EmbeddedPostgresError(
      `PostgreSQL was not ready after ${LONGEST_START_MS / 1000} s (see ${this.command.log.path})`,
    );
  }

  async stop(): Promise<void> {
    this.child.ref();
    for (const [signal, patienceMs] of SHUTDOWN) {
      if (this.ended) return;
      this.child.kill(signal);
      const patience = new AbortController();
      const impatient = sleep(patienceMs, undefined, { signal: patience.signal }).catch(
        () => undefined,
      );
      await Promise.race([this.exited, impatient]);
      patience.abort();
    }
  }
}

/** Errors that pass while processes of a killed server end. */
const PASSING = /shared memory block|lock file/;
const PATIENCE_MS = 10_000;

export async function startPatiently(
  spawnServer: () => Promise<ServerProcess>,
): Promise<ServerProcess> {
  for (const begin = Date.now(); ; await sleep(100)) {
    const server = await spawnServer();
    try {
      await server.ready();
      return server;
    } catch (error) {
      const passing = error instanceof EmbeddedPostgresError && PASSING.test(error.message);
      if (!passing || Date.now() - begin > PATIENCE_MS) throw error;
    }
  }
}

const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** After this time a server was healthy, so its end starts a new series of restarts. */
const HEALTHY_AFTER_MS = 10_000;

/** Restarts the server when it ends, until `stop`. The pools of the application reconnect. */
export class Supervisor {
  private readonly stopping = new AbortController();
  private readonly watching: Promise<void>;

  constructor(
    private server: ServerProcess,
    private readonly spawn: () => Promise<ServerProcess>,
    private readonly log: (line: string) => void,
  ) {
    this.watching = this.watch();
  }

  get pid(): number {
    return this.server.pid;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.server.stop();
    await this.watching;
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopping;
    let pause = SHORTEST_PAUSE_MS;
    for (;;) {
      const begin = Date.now();
      await this.server.exited;
      if (signal.aborted) return;

      if (Date.now() - begin >= HEALTHY_AFTER_MS) pause = SHORTEST_PAUSE_MS;
      this.log(`The PostgreSQL server (pid ${this.pid}) ended. It restarts in ${pause} ms.`);
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      if (signal.aborted) return;

      await this.restart();
    }
  }

  private async restart(): Promise<void> {
    try {
      this.server = await this.spawn();
      if (this.stopping.signal.aborted) return await this.server.stop();
      await this.server.ready();
      this.log(`The PostgreSQL server runs again (pid ${this.pid}).`);
    } catch (error) {
      if (!this.stopping.signal.aborted) {
        this.log(EmbeddedPostgresError.from(error).message);
      }
    }
  }
}
