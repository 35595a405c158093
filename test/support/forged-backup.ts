import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  type End,
  encodeFrame,
  type Frame,
  TableCounter,
} from '../../src/platform/database/backup/backup-format.js';

const LETTERS = {
  M: 'manifest',
  T: 'table',
  D: 'data',
  S: 'sequences',
  K: 'keys',
  Z: 'end',
} as const;

/** What somebody makes of a backup who knows its form and not the key: rows of their own, with checksums that are right. */
export function forged(backup: Buffer, table: string, [from, to]: [string, string]): Buffer {
  const hash = createHash('sha256');
  const tables: Record<string, TableCounter> = {};
  let name = '';
  return changed(backup, (frame) => {
    let { content } = frame;
    if (frame.kind === 'table') {
      ({ name } = JSON.parse(content.toString()) as { name: string });
      tables[name] = new TableCounter();
    }
    if (frame.kind === 'data') {
      if (name === table) content = Buffer.from(content.toString().replaceAll(from, to));
      tables[name]!.add(content);
    }
    if (frame.kind !== 'end') {
      hash.update(encodeFrame(frame.kind, content));
      return { kind: frame.kind, content };
    }
    const counts = Object.entries(tables).map(([one, counter]) => [one, counter.count()]);
    const end = JSON.parse(content.toString()) as End;
    return endOf({ ...end, tables: Object.fromEntries(counts), sha256: hash.digest('hex') });
  });
}

export function withEnd(
  backup: Buffer,
  change: (end: Record<string, unknown>) => Record<string, unknown>,
): Buffer {
  return changed(backup, (frame) =>
    frame.kind === 'end'
      ? endOf(change(JSON.parse(frame.content.toString()) as Record<string, unknown>))
      : frame,
  );
}

function endOf(end: object): Frame {
  return { kind: 'end', content: Buffer.from(JSON.stringify(end)) };
}

function changed(backup: Buffer, change: (frame: Frame) => Frame): Buffer {
  const bytes = gunzipSync(backup);
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    const kind = LETTERS[String.fromCharCode(bytes[at]!) as keyof typeof LETTERS];
    const frame = change({ kind, content: bytes.subarray(at + 5, end) });
    frames.push(encodeFrame(frame.kind, frame.content));
    at = end;
  }
  return gzipSync(Buffer.concat(frames));
}
