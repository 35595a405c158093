import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { version } from '../../config/process.js';
import { commandConnection } from '../connection.js';
import {
  BackupError,
  encodeFrame,
  type FrameKind,
  FORMAT,
  type Manifest,
  rowsIn,
  type BackupPlan,
} from './backup-format.js';
import { appliedMigrations, copyTarget, listTables, readSequences } from './catalog.js';
import { presentTime } from '../../clock.js';

const OWNER_ONLY = 0o600;
const CHUNK_BYTES = 256 * 1024;

interface BackupOptions {
  readonly url: string;
  readonly file: string;
  readonly plan: BackupPlan;
  /** Keys to include in the file. */
  readonly keys?: string;
  /** Replaces an existing file. */
  readonly force?: boolean;
}

interface BackupSummary {
  readonly manifest: Manifest;
  readonly tables: Readonly<Record<string, number>>;
}

/**
 * Writes a snapshot of the whole database while the service keeps writing. The file appears under its name only when it
 * is complete and synced, and only its owner can read it.
 */
export async function writeBackup(options: BackupOptions): Promise<BackupSummary> {
  refuseExisting(options);
  const draft = `${options.file}.${randomBytes(4).toString('hex')}.part`;
  try {
    const summary = await inOneSnapshot(options, (client) => fill(draft, client, options));
    refuseExisting(options);
    await rename(draft, options.file);
    await syncFolder(dirname(options.file));
    return summary;
  } catch (error) {
    await rm(draft, { force: true });
    // The operator named no draft: its folder is missing or not writable.
    if (hasPath(error, draft)) error.path = dirname(options.file);
    throw error;
  }
}

function hasPath(error: unknown, path: string): error is { path: string } {
  return error instanceof Error && 'path' in error && error.path === path;
}

function refuseExisting({ file, force }: BackupOptions): void {
  if (!force && existsSync(file)) {
    throw new BackupError(
      `${file} already exists. Choose another file, or use --force to replace it.`,
    );
  }
}

async function fill(draft: string, client: Client, options: BackupOptions): Promise<BackupSummary> {
  const manifest = await manifestOf(client, options);
  const tables: Record<string, number> = {};
  await pipeline(
    framesOf(client, options, manifest, tables),
    createGzip(),
    createWriteStream(draft, { flags: 'wx', mode: OWNER_ONLY, flush: true }),
  );
  return { manifest, tables };
}

async function inOneSnapshot<T>(
  { url }: BackupOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(commandConnection(url));
  // A broken connection rejects the current query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    return await work(client);
  } finally {
    await client.end();
  }
}

async function manifestOf(client: Client, { plan }: BackupOptions): Promise<Manifest> {
  const migrations = await appliedMigrations(client);
  if (migrations.length === 0) {
    throw new BackupError('The database is empty: there is nothing to back up.');
  }
  return {
    format: FORMAT,
    version,
    created_at: new Date(presentTime()).toISOString(),
    migrations,
    key_ids: await plan.keyIds(client),
  };
}

/** Yields the frames and fills `tables` with their counts. */
async function* framesOf(
  client: Client,
  { plan, keys }: BackupOptions,
  manifest: Manifest,
  tables: Record<string, number>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const hashed = (kind: FrameKind, content: Buffer | object): Buffer => {
    const frame = encodeFrame(kind, content);
    hash.update(frame);
    return frame;
  };
  yield hashed('manifest', manifest);
  for (const table of await listTables(client)) {
    if (plan.excludedTables.includes(table.name)) continue;
    yield hashed('table', table);
    tables[table.name] = 0;
    const rows = client.query(copyTo(`copy ${copyTarget(client, table)} to stdout`));
    for await (const chunk of inChunks(rows)) {
      tables[table.name]! += rowsIn(chunk);
      yield hashed('data', chunk);
    }
  }
  yield hashed('sequences', { values: await readSequences(client) });
  if (keys !== undefined) yield hashed('keys', { keys });
  yield encodeFrame('end', { tables, sha256: hash.digest('hex') });
}

/** Collects the single rows of COPY into larger chunks. */
async function* inChunks(rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const row of rows) {
    parts.push(row);
    size += row.length;
    if (size < CHUNK_BYTES) continue;
    yield Buffer.concat(parts);
    parts = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(parts);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
