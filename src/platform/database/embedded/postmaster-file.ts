import { execFile } from 'node:child_process';
import { readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, readIfPresent, EmbeddedPostgresError } from './file-system.js';

/** Contents of postmaster.pid, which a server writes to its cluster. */
interface PostmasterFile {
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

/** Process ids are reused, so a live process serves this cluster only if its command line says so. */
export async function servesCluster(pid: number, cluster: string): Promise<boolean> {
  const command = await commandLine(pid);
  // The orphan guard of the shell has the same arguments.
  if (command.startsWith('/bin/sh ')) return false;
  if (command.includes(`/postgres -D ${cluster} `)) return true;
  // The path of the cluster changed, or somebody started the server manually.
  const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return /(^|\/)postgres /.test(command) && workingDirectory === cluster;
}

/** Empty if the process does not exist or is a zombie. */
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
 * Stops the server that a killed application left running. The caller holds the lock of the data directory, so no live
 * application uses that server. Usually its orphan guard is already stopping it.
 */
export async function stopPredecessor(cluster: string, log: (line: string) => void): Promise<void> {
  const left = await readPostmasterFile(cluster);
  if (!left) return;
  if (!(await servesCluster(left.pid, cluster))) {
    // postgres accepts the file of a dead server, but not a file whose process id now belongs to another program.
    if (isAlive(left.pid)) await rm(postmasterFile(cluster), { force: true });
    return;
  }
  log(`Stopping the PostgreSQL server (pid ${left.pid}) of a previous instance.`);
  if (await endsAfter('SIGINT', left.pid, cluster, FAST_SHUTDOWN_MS)) return;
  if (await endsAfter('SIGQUIT', left.pid, cluster, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new EmbeddedPostgresError(
    `The PostgreSQL server of a previous instance (pid ${left.pid}) does not stop. Stop it manually.`,
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
