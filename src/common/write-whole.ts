import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

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
