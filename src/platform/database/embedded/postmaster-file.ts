import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasCode, readIfPresent } from './file-system.js';

/** What a server writes about itself into its cluster. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

export const postmasterFile = (cluster: string): string => join(cluster, 'postmaster.pid');

export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const lines = (await readIfPresent(postmasterFile(cluster)))?.split('\n');
  const pid = Number(lines?.[0]);
  if (!lines || !Number.isInteger(pid) || pid <= 1) return undefined;
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
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
