import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Binaries } from './binaries.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { exists, readIfPresent, writeWhole } from './file-system.js';
import { lastComplaint } from './server-log.js';
import { runAs, type ServerUser } from './server-user.js';

/** The role that owns the database of the same name and migrates it. The superuser has no password and cannot log in. */
export const DATABASE = 'incidents';
/** The role that the service runs as: it owns nothing, and is granted what it needs. */
export const SERVICE_ROLE = 'incidents_service';

export interface ClusterOptions {
  readonly cluster: string;
  readonly passwordFile: string;
  readonly servicePasswordFile: string;
  readonly binaries: Binaries;
  readonly user: ServerUser;
  /** False only where data need not survive a power cut, as in tests. */
  readonly durable: boolean;
}

export interface Passwords {
  readonly owner: string;
  readonly service: string;
}

/** Makes the cluster on first start; returns the passwords of the application's roles. */
export async function prepareCluster(options: ClusterOptions): Promise<Passwords> {
  if (!(await exists(options.cluster))) return createCluster(options);

  await verifyVersion(options);
  const owner = (await readIfPresent(options.passwordFile))?.trim();
  const service = (await readIfPresent(options.servicePasswordFile))?.trim();
  if (owner && service) return { owner, service };
  const passwords = { owner: owner ?? newPassword(), service: service ?? newPassword() };
  await runStatements(options, options.cluster, [
    `ALTER ROLE ${DATABASE} PASSWORD '${passwords.owner}'`,
    // A cluster of an earlier release has no such role.
    `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${SERVICE_ROLE}') THEN CREATE ROLE ${SERVICE_ROLE}; END IF; END $$`,
    `ALTER ROLE ${SERVICE_ROLE} LOGIN PASSWORD '${passwords.service}'`,
  ]);
  await writePasswords(options, passwords);
  return passwords;
}

async function writePasswords(options: ClusterOptions, passwords: Passwords): Promise<void> {
  await writeWhole(options.passwordFile, passwords.owner, 0o600);
  await writeWhole(options.servicePasswordFile, passwords.service, 0o600);
}

/** Built beside its place and moved there when complete: an interrupted first start leaves nothing to repair. */
async function createCluster(options: ClusterOptions): Promise<Passwords> {
  const { cluster, user, binaries, durable } = options;
  await removeDrafts(cluster);
  const draft = await mkdtemp(draftPrefix(cluster));
  if (user.dropped) await chown(draft, user.uid, user.gid);

  // Text is compared by code point and upper and lower case follow Unicode, whatever the machine's locales are.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = ['--username=postgres', '--auth=reject', '--encoding=UTF8', '--no-instructions'];
  const speed = durable ? [] : ['--no-sync'];
  const initdb = ['-D', draft, ...access, ...locale, ...speed];
  const { ok, stderr } = await runAs(user, binaries.initdb, initdb);
  if (!ok) throw new EmbeddedPostgresError(`PostgreSQL's initdb failed: ${lastComplaint(stderr)}`);

  const passwords = { owner: newPassword(), service: newPassword() };
  await runStatements(options, draft, [
    `CREATE ROLE ${DATABASE} LOGIN CREATEDB PASSWORD '${passwords.owner}'`,
    `CREATE ROLE ${SERVICE_ROLE} LOGIN PASSWORD '${passwords.service}'`,
    `CREATE DATABASE ${DATABASE} OWNER ${DATABASE}`,
  ]);
  await writePasswords(options, passwords);
  await rename(draft, cluster);
  return passwords;
}

const draftPrefix = (cluster: string): string => `${cluster}.new-`;

/** Each draft has its own name: the initdb of a killed application may still be at work in the former one. */
async function removeDrafts(cluster: string): Promise<void> {
  for (const name of await readdir(dirname(cluster))) {
    const path = join(dirname(cluster), name);
    if (!path.startsWith(draftPrefix(cluster))) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** In single-user mode, which needs neither a running server nor a superuser who can log in. */
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
      ? `${cluster} is not a PostgreSQL data directory: move it away, or use another DATA_DIR.`
      : `${cluster} was made by PostgreSQL ${version}, and this release runs ${binaries.major}: move the data over with pg_dump of version ${version}, or use another DATA_DIR.`,
  );
}

const newPassword = (): string => randomBytes(24).toString('hex');

/** By password, the application's roles only. TCP is there for whoever turns it on, as tests do. */
export const HOST_BASED_ACCESS = [DATABASE, SERVICE_ROLE]
  .map((role) => `local all ${role} scram-sha-256\nhost all ${role} 127.0.0.1/32 scram-sha-256\n`)
  .join('');

/** For one application on a small machine; what is safe by default (fsync, checksums, full page writes) stays so. */
export const SMALL_SERVER: Readonly<Record<string, string>> = {
  // The socket alone, in a directory of its owner: another user of the machine could take all connections of a port.
  listen_addresses: '',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  // Nobody replicates from here: less WAL, and no process that would wait for replicas.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // Three processes fewer; reads of a database of this size come from the operating system's cache.
  io_method: 'sync',
  // Parallel queries need more shared memory than a container's /dev/shm has by default.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};
