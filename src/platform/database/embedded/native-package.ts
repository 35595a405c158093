import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { exists, hasCode } from './file-system.js';

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
