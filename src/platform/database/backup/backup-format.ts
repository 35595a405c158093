import { createHash, type Hash } from 'node:crypto';

/**
 * A backup is one gzip of frames: a letter, the length in four bytes, the content. First what the backup is, then each
 * table with the text that COPY makes of it, then the sequences and, when asked for, the keys; last the end, which counts
 * everything, has the checksum of all frames before it and is signed. So it is written and read in one pass, whatever its
 * size.
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
/** COPY sends row by row; a row holds a request body and little else. */
const LARGEST_FRAME = 1024 * 1024 * 1024;

export interface Manifest {
  readonly format: number;
  /** The release that made it. */
  readonly version: string;
  readonly created_at: string;
  /** All that had been applied, oldest first. */
  readonly migrations: readonly string[];
  /** The keys that its contents need, by their ids. */
  readonly key_ids: readonly string[];
  /** The key that vouches for all of it. Absent: made without the key. */
  readonly signed_by?: string;
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

export interface TableCount {
  readonly rows: number;
  readonly sha256: string;
}

export interface End {
  readonly tables: Readonly<Record<string, TableCount>>;
  readonly sha256: string;
  readonly mac?: string;
}

export interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

/** The file cannot be used; nothing was changed. */
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
      if (!kind || wanted > LARGEST_FRAME)
        throw new BackupError('it is not in the form of a backup');
      if (bytes.length < wanted) break;
      yield { kind, content: bytes.subarray(HEAD_BYTES, wanted) };
      bytes = bytes.subarray(wanted);
    }
    parts = bytes.length > 0 ? [bytes] : [];
    size = bytes.length;
  }
  if (size > 0) throw new BackupError('its end is missing');
}

/** Counts one table as it is written or read: in COPY's text each row is a line. */
export class TableCounter {
  private rows = 0;
  private readonly hash: Hash = createHash('sha256');

  add(chunk: Buffer): void {
    this.hash.update(chunk);
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) this.rows += 1;
  }

  count(): TableCount {
    return { rows: this.rows, sha256: this.hash.digest('hex') };
  }
}
