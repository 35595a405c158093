import type { ClientBase } from 'pg';
import type { Tx } from '../transactions.js';

/**
 * A backup is a gzip stream of frames: a letter, the length in four bytes, the content. The manifest comes first, then
 * each table with its COPY text, the sequences and (if requested) the keys, and last the end, which has all row counts
 * and the checksum of all other frames. So a backup of any size is written and read in one pass.
 */
export const FORMAT = 1;

export type FrameKind = 'manifest' | 'table' | 'data' | 'sequences' | 'keys' | 'end';

const LETTERS: Readonly<Record<FrameKind, string>> = {
  manifest: 'M',
  table: 'T',
  data: 'D',
  sequences: 'S',
  keys: 'K',
  end: 'Z',
};
const KINDS = new Map(Object.entries(LETTERS).map(([kind, letter]) => [letter, kind as FrameKind]));
const HEAD_BYTES = 5;
/** COPY sends row by row, and a row holds at most one request body. */
const LARGEST_FRAME = 1024 * 1024 * 1024;

export interface Manifest {
  readonly format: number;
  /** Release that made the backup. */
  readonly version: string;
  readonly created_at: string;
  /** Applied migrations, oldest first. */
  readonly migrations: readonly string[];
  /** Ids of the keys that the contents need. */
  readonly key_ids: readonly string[];
}

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface SequenceValue {
  readonly name: string;
  readonly last_value: string;
  readonly is_called: boolean;
}

export interface End {
  /** Number of rows of each table. */
  readonly tables: Readonly<Record<string, number>>;
  readonly sha256: string;
}

export interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

/** The file cannot be used. Nothing was changed. */
export class BackupError extends Error {}

export function encodeFrame(kind: FrameKind, content: Buffer | object): Buffer {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
  const head = Buffer.alloc(HEAD_BYTES, LETTERS[kind]);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

export async function* readFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let parts: Buffer[] = [];
  let size = 0;
  let wanted = HEAD_BYTES;
  for await (const chunk of source) {
    parts.push(chunk);
    size += chunk.length;
    if (size < wanted) continue;
    let bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    for (;;) {
      wanted = bytes.length < HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + bytes.readUInt32BE(1);
      if (bytes.length < HEAD_BYTES) break;
      const kind = KINDS.get(String.fromCharCode(bytes[0]!));
      if (!kind || wanted > LARGEST_FRAME) throw new BackupError('it is not a backup file');
      if (bytes.length < wanted) break;
      yield { kind, content: bytes.subarray(HEAD_BYTES, wanted) };
      bytes = bytes.subarray(wanted);
    }
    parts = bytes.length > 0 ? [bytes] : [];
    size = bytes.length;
  }
  if (size > 0) throw new BackupError('its end is missing');
}

/** Counts rows: in COPY text each row is a line. */
export function rowsIn(chunk: Buffer): number {
  let rows = 0;
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1;
  return rows;
}

/** Knowledge about the tables that a backup needs. */
export interface BackupPlan {
  /** Tables that a backup leaves out. */
  readonly excludedTables: readonly string[];
  /** Returns the ids of the keys that the contents need. Throws if the backup would be unusable. */
  keyIds(client: ClientBase): Promise<readonly string[]>;
}

/** Knowledge about the tables that a restore needs. */
export interface RestorePlan {
  readonly excludedTables: readonly string[];
  /** Whether every process that uses the current database has the keys of the backup. */
  readableToAll(tx: Tx): Promise<boolean>;
  /** Saves the parts of the current database that must outlast the restore. `inUse`: the service keeps running. */
  remember(tx: Tx, inUse: boolean): Promise<void>;
  /** Writes the saved parts back and recomputes derived rows, in the same transaction. */
  rebuild(tx: Tx): Promise<void>;
}
