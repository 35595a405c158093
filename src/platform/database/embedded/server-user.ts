import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { EmbeddedPostgresError, hasCode } from './file-system.js';

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
  /** True if this process is root and runs the server as an unprivileged user, because postgres refuses root. */
  readonly dropped: boolean;
}

export interface Outcome {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** The server does not get the environment of the application: neither secrets nor PG* variables. */
export const SERVER_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' };

/**
 * Returns the owner of an existing cluster; for a new cluster this user, or an unprivileged user if this process is
 * root.
 */
export async function chooseServerUser(cluster: string): Promise<ServerUser> {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if (uid === undefined || gid === undefined) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${process.platform}. Set DATABASE_URL to use your own server.`,
    );
  }
  const owner = await ownerOf(cluster);
  if (uid !== 0) {
    if (owner && owner.uid !== uid) {
      throw new EmbeddedPostgresError(
        `${cluster} belongs to the user with id ${owner.uid}, but this process runs with id ${uid}. Start as that user, or use another DATA_DIR.`,
      );
    }
    return { uid, gid, dropped: false };
  }
  if (owner?.uid === 0) {
    throw new EmbeddedPostgresError(
      `${cluster} belongs to root, but PostgreSQL refuses to run as root. Change the owner to an unprivileged user with chown -R.`,
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
    // Some systems write the id of nobody as -2.
    if (user) return { uid: Number(user[2]) >>> 0, gid: Number(user[3]) >>> 0 };
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root, and the system has neither a user postgres nor a user nobody. Start as an unprivileged user, or set DATABASE_URL.',
  );
}

/** Runs a program as the server user. A non-zero exit and a program that cannot start are outcomes, not errors. */
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
    // A program that does not read its input is judged by its exit code, not by the broken pipe.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Tries to enter the directory: mode bits alone do not show ACLs and other rules. */
export async function canEnter(user: ServerUser, directory: string): Promise<boolean> {
  if (!user.dropped) return true;
  const { ok } = await runAs(user, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory]);
  return ok;
}
