import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Binaries } from './binaries.js';
import { EmbeddedPostgresError, exists, readIfPresent, writeWhole } from './file-system.js';
import { lastComplaint } from './server-process.js';
import { runAs, type ServerUser } from './server-user.js';

/** Name of the database and of the role that owns it. The superuser has no password and cannot log in. */
export const DATABASE = 'incidents';

interface ClusterOptions {
  readonly cluster: string;
  readonly passwordFile: string;
  readonly binaries: Binaries;
  readonly user: ServerUser;
  /** False if the data need not survive a power failure, as in tests. */
  readonly durable: boolean;
}

/** Creates the cluster on the first start. Returns the password of its role. */
export async function prepareCluster(options: ClusterOptions): Promise<string> {
  if (!(await exists(options.cluster))) return createCluster(options);

  await verifyVersion(options);
  const known = (await readIfPresent(options.passwordFile))?.trim();
  if (known) return known;
  const password = newPassword();
  const statement = `ALTER ROLE ${DATABASE} PASSWORD '${password}'`;
  await runStatements(options, options.cluster, [statement]);
  await writeWhole(options.passwordFile, password, 0o600);
  return password;
}

/** Creates the cluster as a draft and renames it when complete, so that an interrupted first start needs no repair. */
async function createCluster(options: ClusterOptions): Promise<string> {
  const { cluster, user, binaries, durable } = options;
  await removeDrafts(cluster);
  const draft = await mkdtemp(draftPrefix(cluster));
  if (user.dropped) await chown(draft, user.uid, user.gid);

  // Compare text by code point, and map case by Unicode, independent of the locales of the machine.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = ['--username=postgres', '--auth=reject', '--encoding=UTF8', '--no-instructions'];
  const speed = durable ? [] : ['--no-sync'];
  const initdb = ['-D', draft, ...access, ...locale, ...speed];
  const { ok, stderr } = await runAs(user, binaries.initdb, initdb);
  if (!ok) throw new EmbeddedPostgresError(`PostgreSQL's initdb failed: ${lastComplaint(stderr)}`);

  const password = newPassword();
  // Tests create roles.
  const rights = durable ? 'LOGIN CREATEDB' : 'LOGIN CREATEDB CREATEROLE';
  await runStatements(options, draft, [
    `CREATE ROLE ${DATABASE} ${rights} PASSWORD '${password}'`,
    `CREATE DATABASE ${DATABASE} OWNER ${DATABASE}`,
  ]);
  await writeWhole(options.passwordFile, password, 0o600);
  await rename(draft, cluster);
  return password;
}

const draftPrefix = (cluster: string): string => `${cluster}.new-`;

/** Each draft has its own name: an initdb of a killed process may still write to an older draft. */
async function removeDrafts(cluster: string): Promise<void> {
  for (const name of await readdir(dirname(cluster))) {
    const path = join(dirname(cluster), name);
    if (!path.startsWith(draftPrefix(cluster))) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Single-user mode needs neither a running server nor a superuser that can log in. */
async function runStatements(
  { binaries, user, durable }: ClusterOptions,
  cluster: string,
  statements: readonly string[],
): Promise<void> {
  const settings = ['-c', 'exit_on_error=on', '-c', `fsync=${durable ? 'on' : 'off'}`];
  const { ok, stderr } = await runAs(
    user,
    binaries.postgres,
    ['--single', '-j', '-D', cluster, ...settings, 'postgres'],
    statements.map((statement) => `${statement};\n\n`).join(''),
  );
  if (!ok) {
    throw new EmbeddedPostgresError(`PostgreSQL could not be set up: ${lastComplaint(stderr)}`);
  }
}

async function verifyVersion({ cluster, binaries }: ClusterOptions): Promise<void> {
  const version = (await readIfPresent(join(cluster, 'PG_VERSION')))?.trim();
  if (version === binaries.major) return;
  throw new EmbeddedPostgresError(
    version === undefined
      ? `${cluster} is not a PostgreSQL data directory. Move it away, or use another DATA_DIR.`
      : `${cluster} was created by PostgreSQL ${version}, but this release runs ${binaries.major}. Transfer the data with pg_dump ${version}, or use another DATA_DIR.`,
  );
}

const newPassword = (): string => randomBytes(24).toString('hex');

/** Password access. Loopback TCP is off by default; tests turn it on. */
export const HOST_BASED_ACCESS = `local all postgres reject
host all postgres all reject
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
`;

/** Settings for one application on a small machine. Safe defaults (fsync, checksums, full page writes) stay. */
export const SMALL_SERVER: Readonly<Record<string, string>> = {
  // Socket only, in a private directory: another user of the machine could exhaust the connections of a port.
  listen_addresses: '',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  // No replication: less WAL and fewer processes.
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
};
