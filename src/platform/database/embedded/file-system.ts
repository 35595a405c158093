import { randomBytes } from 'node:crypto';
import { chmod, lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';

/** The embedded server cannot be started. The message is one line for the operator. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' ').trim(), options);
  }

  static from(error: unknown): EmbeddedPostgresError {
    if (error instanceof EmbeddedPostgresError) return error;
    const reason = (error as { message?: string } | undefined)?.message ?? String(error);
    return new EmbeddedPostgresError(`The embedded PostgreSQL could not be started: ${reason}`, {
      cause: error,
    });
  }
}

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

/** Writes the file atomically, so that readers and starts after a power failure never see a partial file. */
export async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    await chmod(draft, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Whether the path is a directory (no link) of this user in which nobody else can write. */
export async function isPrivateDirectory(path: string): Promise<boolean> {
  const stats = await lstat(path);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}
