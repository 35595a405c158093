import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';

/** Writes a file for its owner only. Readers never see a partial file, even after a power failure. */
export async function writeWhole(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Syncs a folder, so that the names of new files in it survive a power failure. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Splits text only at line feeds, because texts of people may contain other line separators. */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = chunk.split('\n');
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}
