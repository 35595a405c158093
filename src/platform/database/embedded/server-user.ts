import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { hasCode } from './file-system.js';

/** The OS user that runs initdb and postgres. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
  /** True for a root process, which hands the server to a user without rights: postgres refuses root. */
  readonly dropped: boolean;
}

export interface Outcome {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Nothing of the application's environment reaches the server: neither its secrets nor stray PG* settings. */
export const SERVER_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' };

/** An existing cluster is served by the user who owns it, a new one by oneself or, for root, by a user without rights. */
export async function chooseServerUser(cluster: string): Promise<ServerUser> {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if (uid === undefined || gid === undefined) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${process.platform}: set DATABASE_URL to use a server of your own.`,
    );
  }
  const owner = await ownerOf(cluster);
  if (uid !== 0) {
    if (owner && owner.uid !== uid) {
      throw new EmbeddedPostgresError(
        `${cluster} belongs to the user with id ${owner.uid}, and this process runs with id ${uid}: start as that user, or use another DATA_DIR.`,
      );
    }
    return { uid, gid, dropped: false };
  }
  if (owner?.uid === 0) {
    throw new EmbeddedPostgresError(
      `${cluster} belongs to root, as whom PostgreSQL refuses to run: give it to an unprivileged user with chown -R.`,
    );
  }
  return { ...(owner ?? (await unprivilegedUser())), dropped: true };
}

async function ownerOf(path: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const user = users.find((fields) => fields[0] === name);
    // Some systems write nobody's id as -2.
    if (user) return { uid: Number(user[2]) >>> 0, gid: Number(user[3]) >>> 0 };
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root, and there is no OS user postgres or nobody to run it: start as a plain user, or set DATABASE_URL.',
  );
}

/** Runs a program as the server's user; a non-zero exit is an outcome, a program that cannot be run is one too. */
export function runAs(
  user: ServerUser,
  file: string,
  args: readonly string[],
  input = '',
): Promise<Outcome> {
  return new Promise((resolve) => {
    const identity = user.dropped ? { uid: user.uid, gid: user.gid } : {};
    const child = execFile(
      file,
      args,
      { ...identity, cwd: '/', env: SERVER_ENVIRONMENT, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resolve({ ok: error === null, stdout, stderr: stderr || (error?.message ?? '') }),
    );
    // A program that ends without reading its input is judged by its exit, not by the broken pipe.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Asked of the kernel, by trying: mode bits alone say nothing about ACLs and other rules. */
export async function canEnter(user: ServerUser, directory: string): Promise<boolean> {
  if (!user.dropped) return true;
  const { ok } = await runAs(user, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory]);
  return ok;
}
