import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { version } from '../../config/version.js';
import { commandConnection } from '../connection.js';
import {
  BackupError,
  encodeFrame,
  type FrameKind,
  FORMAT,
  type Manifest,
  TableCounter,
  type TableCount,
} from './backup-format.js';
import type { BackupPlan } from './backup-plan.js';
import { macOf, type SigningKey } from './signature.js';
import { appliedMigrations, copyTarget, listTables, readSequences } from './catalog.js';
import { presentTime } from '../../clock.js';

const OWNER_ONLY = 0o600;
const CHUNK_BYTES = 256 * 1024;

export interface BackupOptions {
  readonly url: string;
  readonly file: string;
  readonly plan: BackupPlan;
  /** Put into the file when given. */
  readonly keys?: string;
  /** Another file of that name is replaced. */
  readonly force?: boolean;
}

export interface BackupSummary {
  readonly manifest: Manifest;
  readonly tables: Readonly<Record<string, TableCount>>;
}

/**
 * The whole database as it was at one moment, while others go on writing. The file appears under its name when it is
 * whole and on the disk, and is for its owner alone.
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
    throw error;
  }
}

function refuseExisting({ file, force }: BackupOptions): void {
  if (!force && existsSync(file)) {
    throw new BackupError(
      `${file} exists already: name another file, or say --force to replace it.`,
    );
  }
}

async function fill(draft: string, client: Client, options: BackupOptions): Promise<BackupSummary> {
  const unsigned = await manifestOf(client, options);
  const signer = options.plan.signerOf(unsigned.key_ids);
  const manifest = { ...unsigned, signed_by: signer && signer.id };
  const tables: Record<string, TableCount> = {};
  await pipeline(
    framesOf(client, options, { manifest, signer }, tables),
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
  // A connection that breaks rejects what waits for it.
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
    throw new BackupError('The database is empty: there is nothing to keep.');
  }
  return {
    format: FORMAT,
    version,
    created_at: new Date(presentTime()).toISOString(),
    migrations,
    key_ids: await plan.keyIds(client),
  };
}

/** Counts each table as it goes by. */
async function* framesOf(
  client: Client,
  { plan, keys }: BackupOptions,
  { manifest, signer }: { manifest: Manifest; signer: SigningKey | undefined },
  tables: Record<string, TableCount>,
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
    const counter = new TableCounter();
    const rows = client.query(copyTo(`copy ${copyTarget(client, table)} to stdout`));
    for await (const chunk of inChunks(rows)) {
      counter.add(chunk);
      yield hashed('data', chunk);
    }
    tables[table.name] = counter.count();
  }
  yield hashed('sequences', { values: await readSequences(client) });
  if (keys !== undefined) yield hashed('keys', { keys });
  const end = { tables, sha256: hash.digest('hex') };
  yield encodeFrame('end', { ...end, mac: signer && macOf(signer.key, end) });
}

/** COPY hands over row by row; what is written is larger. */
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
