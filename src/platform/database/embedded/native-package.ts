import { chmod, copyFile, mkdir, readdir, readFile, rename, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { createHash, randomBytes } from 'node:crypto';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { exists, hasCode, isPrivateDirectory, readIfPresent } from './file-system.js';

export function locateNative(platform = process.platform, arch = process.arch): string {
  try {
    const entry = createRequire(__filename).resolve(`@embedded-postgres/${platform}-${arch}`);
    return join(dirname(entry), '..', 'native');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform}-${arch}: set DATABASE_URL to use a server of your own.`,
      { cause: error },
    );
  }
}

/** npm packages cannot carry links; the package would make these in an install script, which need not run. */
export async function linkLibraries(native: string): Promise<boolean> {
  const list = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const link = join(native, relative('native', target));
    if (await exists(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false;
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
  return true;
}

interface PackagedFile {
  readonly path: string;
  readonly size: number;
  readonly executable: boolean;
}

/**
 * The package's files where the server's user can run them. The name is derived from version and files, so starts share
 * one copy; as anyone may create that name in a temporary directory, it counts only when it is ours and closed to others.
 * Whatever is missing is filled in file by file, each whole at once: starts may do so side by side, one may be killed
 * half-way, and whoever tidies up temporary directories may have taken a part.
 */
export async function privateCopy(native: string, temporaryRoot: string): Promise<string> {
  const files = await listFiles(native);
  const version = (await readIfPresent(join(native, '../package.json'))) ?? '';
  const hash = createHash('sha256').update(JSON.stringify({ version, files })).digest('hex');
  const name = `incident-triage-postgres-${process.getuid?.()}-${hash.slice(0, 16)}`;
  const copy = join(temporaryRoot, name);
  await makeDirectory(copy);
  if (!(await isPrivateDirectory(copy))) {
    throw new EmbeddedPostgresError(
      `${copy} should be this user's own copy of PostgreSQL, but others can change it: remove it and start again.`,
    );
  }
  const directories = new Set(files.flatMap(({ path }) => ancestors(path)));
  for (const directory of ['.', ...[...directories].sort()]) {
    await makeDirectory(join(copy, directory));
    await chmod(join(copy, directory), 0o755);
  }
  await Promise.all(files.map((file) => fillIn(file, native, copy)));
  await linkLibraries(copy);
  return copy;
}

async function listFiles(native: string): Promise<PackagedFile[]> {
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  // Static libraries are for building programs, not for running one.
  const wanted = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.a'));
  const files = await Promise.all(
    wanted.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mode } = await stat(path);
      return { path: relative(native, path), size, executable: (mode & 0o111) !== 0 };
    }),
  );
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [...ancestors(parent), parent];
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o755 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** Modes are set, not copied: those of a checkout made under umask 077 would shut the server's user out again. */
async function fillIn(file: PackagedFile, native: string, copy: string): Promise<void> {
  const target = join(copy, file.path);
  const present = await stat(target).catch(() => undefined);
  if (present?.size === file.size) return;
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  await copyFile(join(native, file.path), draft);
  await chmod(draft, file.executable ? 0o755 : 0o644);
  await rename(draft, target);
}
