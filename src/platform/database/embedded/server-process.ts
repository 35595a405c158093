import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { readPostmasterFile } from './postmaster-file.js';
import type { ServerLog } from './server-log.js';
import { SERVER_ENVIRONMENT, type ServerUser } from './server-user.js';

export interface ServerCommand {
  readonly postgres: string;
  readonly cluster: string;
  readonly socketDir: string;
  readonly user: ServerUser;
  readonly log: ServerLog;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * The shell becomes postgres, after leaving behind a guard of one megabyte that waits at the other end of a pipe. When
 * node ends, however it ends, the kernel closes the pipe, and the guard asks postgres for a fast shutdown and removes
 * the directory that this leaves empty; a line instead of the end tells the guard that it is no longer needed. As the
 * guard exists before postgres does, there is no moment at which killing node leaves a server behind. Forked twice, it
 * is no child of postgres, which minds unknown children.
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
/** Fast shutdown, then the harder ways; the data is safe after each of them. */
const SHUTDOWN: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
];

/** One run of postgres. */
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
        // Its own process group: Ctrl-C is for the application, which still needs the server while it drains.
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

  /** Resolves when the server takes connections; rejects with its own complaint when it ends instead. */
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

/** Processes of a killed server are still ending. */
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
