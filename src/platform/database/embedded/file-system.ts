import { randomBytes } from 'node:crypto';
import { lstat, open, readFile, rename, rm } from 'node:fs/promises';

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(String((error as { code?: unknown } | undefined)?.code));
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Whole or not at all: a reader, or a start after a power cut, never sees half of the file. */
export async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', mode);
    try {
      await file.chmod(mode);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A real directory of this user in which nobody else can put or replace anything. */
export async function isPrivateDirectory(path: string): Promise<boolean> {
  const stats = await lstat(path);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}
