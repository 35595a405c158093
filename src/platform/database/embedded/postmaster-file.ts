import { execFile } from 'node:child_process';
import { readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, readIfPresent } from './file-system.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

/** What a server writes about itself into its cluster. */
export interface PostmasterFile {
  readonly pid: number;
  readonly socketDir: string;
  readonly ready: boolean;
}

const postmasterFile = (cluster: string): string => join(cluster, 'postmaster.pid');

export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const lines = (await readIfPresent(postmasterFile(cluster)))?.split('\n');
  const pid = Number(lines?.[0]);
  if (!lines || !Number.isInteger(pid) || pid <= 1) return undefined;
  return { pid, socketDir: lines[4] ?? '', ready: lines[7]?.trim() === 'ready' };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Process ids are given out again, so a live one is a server of this cluster only when its command line says so. */
export async function servesCluster(pid: number, cluster: string): Promise<boolean> {
  const command = await commandLine(pid);
  // The orphan guard, which the shell left behind, bears the same arguments.
  if (command.startsWith('/bin/sh ')) return false;
  if (command.includes(`/postgres -D ${cluster} `)) return true;
  // A cluster whose path changed under its running server, or a server that somebody started by hand.
  const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return /(^|\/)postgres /.test(command) && workingDirectory === cluster;
}

/** Empty for a process that does not exist, or that ended and only waits for its parent to notice. */
export async function commandLine(pid: number, procfs = '/proc'): Promise<string> {
  try {
    await readFile(`${procfs}/self/stat`);
  } catch {
    return commandLineFromPs(pid);
  }
  const args = await readFile(`${procfs}/${pid}/cmdline`, 'utf8').catch(() => '');
  return args.replaceAll('\0', ' ');
}

async function commandLineFromPs(pid: number): Promise<string> {
  const ps = promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  return ps.then(
    ({ stdout }) => `${stdout.trimEnd()} `,
    () => '',
  );
}

const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 10;

/**
 * Ends the server that a killed application left running. The caller holds the lock of the data directory, so no living
 * application uses that server, and its orphan guard is most likely stopping it already.
 */
export async function stopPredecessor(cluster: string, log: (line: string) => void): Promise<void> {
  const left = await readPostmasterFile(cluster);
  if (!left) return;
  if (!(await servesCluster(left.pid, cluster))) {
    // postgres copes with the file of a dead server, but not with one whose id now belongs to another program.
    if (isAlive(left.pid)) await rm(postmasterFile(cluster), { force: true });
    return;
  }
  log(`stopping the PostgreSQL server (pid ${left.pid}) that an ended instance left running`);
  if (await endsAfter('SIGINT', left.pid, cluster, FAST_SHUTDOWN_MS)) return;
  if (await endsAfter('SIGQUIT', left.pid, cluster, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new EmbeddedPostgresError(
    `The PostgreSQL server with pid ${left.pid}, left running by an ended instance, does not stop: end it by hand.`,
  );
}

async function endsAfter(
  signal: NodeJS.Signals,
  pid: number,
  cluster: string,
  patienceMs: number,
): Promise<boolean> {
  try {
    process.kill(pid, signal);
  } catch {
    return !(await servesCluster(pid, cluster));
  }
  for (let waited = 0; waited < patienceMs; waited += POLL_MS) {
    if (!(await servesCluster(pid, cluster))) return true;
    await sleep(POLL_MS);
  }
  return false;
}
