import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  BackupError,
  encodeFrame,
  type End,
  type Frame,
  FORMAT,
  type Manifest,
  readFrames,
  type SequenceValue,
  type Table,
} from './backup-format.js';

export interface VerifiedBackup {
  readonly manifest: Manifest;
  readonly end: End;
  readonly sequences: readonly SequenceValue[];
  /** Keys in the format of SECRETS_KEY, if the backup includes them. */
  readonly keys: string | undefined;
}

/** Reads and checks the whole file. Throws if a byte differs from what was written. */
export async function verifyBackup(file: string): Promise<VerifiedBackup> {
  try {
    return await verify(framesOf(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new BackupError(`The file ${file} does not exist.`, { cause: error });
    }
    throw new BackupError(
      `${file} cannot be restored, and nothing was changed: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

/**
 * Yields the tables of a verified file, each with its rows in COPY format. The file is read a second time; the last
 * step throws if it changed meanwhile.
 */
export async function* tablesOf(
  file: string,
  { end }: VerifiedBackup,
): AsyncGenerator<{ table: Table; rows: Readable }> {
  const hash = createHash('sha256');
  const frames = untilEnd(framesOf(file), hash);
  let next = await frames.next();
  while (!next.done) {
    if (next.value.kind !== 'table') {
      next = await frames.next();
      continue;
    }
    const table = json<Table>(next.value);
    async function* rows(): AsyncGenerator<Buffer> {
      for (next = await frames.next(); !next.done && next.value.kind === 'data';) {
        yield next.value.content;
        next = await frames.next();
      }
    }
    yield { table, rows: Readable.from(rows(), { objectMode: false }) };
  }
  if (hash.digest('hex') !== end.sha256) {
    throw new BackupError(`${file} changed during the restore. The database was not changed.`);
  }
}

async function* untilEnd(frames: AsyncGenerator<Frame>, hash: Hash): AsyncGenerator<Frame> {
  for await (const frame of frames) {
    if (frame.kind === 'end') return;
    hash.update(encodeFrame(frame.kind, frame.content));
    yield frame;
  }
}

function framesOf(file: string): AsyncGenerator<Frame> {
  const gunzip = createGunzip();
  // The reader of the frames gets the error.
  pipeline(createReadStream(file), gunzip, () => undefined);
  return readFrames(gunzip);
}

async function verify(frames: AsyncGenerator<Frame>): Promise<VerifiedBackup> {
  const hash = createHash('sha256');
  let manifest: Manifest | undefined;
  let sequences: readonly SequenceValue[] = [];
  let keys: string | undefined;
  let end: End | undefined;
  for await (const frame of frames) {
    if (end) throw new BackupError('it has data after its end');
    if (frame.kind === 'manifest') manifest = supported(json<Manifest>(frame));
    if (frame.kind === 'sequences') sequences = json<{ values: SequenceValue[] }>(frame).values;
    if (frame.kind === 'keys') ({ keys } = json<{ keys: string }>(frame));
    if (frame.kind === 'end') end = json<End>(frame);
    else hash.update(encodeFrame(frame.kind, frame.content));
  }
  if (!manifest || !end) throw new BackupError('its end is missing');
  if (hash.digest('hex') !== end.sha256) throw new BackupError('its checksum is wrong');
  return { manifest, end, sequences, keys };
}

function supported(manifest: Manifest): Manifest {
  if (manifest.format === FORMAT) return manifest;
  throw new BackupError(
    `it has format ${manifest.format}, but this release reads format ${FORMAT}`,
  );
}

function json<T>({ content }: Frame): T {
  return JSON.parse(content.toString('utf8')) as T;
}
