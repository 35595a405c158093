import { lstat, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyPrograms, linkLibraries, locateNative, serverUserOf } from './cluster.js';
import { servesCluster } from './server.js';
import { openTempDir } from '../../../../test/support/embedded/launcher-build.js';

describe('copyPrograms', () => {
  const root = openTempDir('copy');
  const native = join(root, 'package/native');
  const home = join(root, 'home');

  beforeAll(async () => {
    for (const path of ['package/native/bin', 'package/native/lib', 'home']) {
      await mkdir(join(root, path), { recursive: true });
    }
    await writeFile(join(root, 'package/package.json'), '{"version":"18.5.0"}');
    await writeFile(join(native, 'bin/postgres'), 'program', { mode: 0o700 });
    await writeFile(join(native, 'lib/libpq.so.5.18'), 'library', { mode: 0o600 });
    await writeFile(join(native, 'lib/libpq.a'), 'static library');
    const link = { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' };
    await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify([link]));
  });
  afterAll(() => rm(root, { recursive: true }));

  it('copies programs and libraries once, readable by all users and writable by the owner', async () => {
    const copy = copyPrograms(native, home);

    expect((await lstat(copy)).mode & 0o777).toBe(0o755);
    expect((await lstat(join(copy, 'bin/postgres'))).mode & 0o777).toBe(0o755);
    expect((await lstat(join(copy, 'lib/libpq.so.5.18'))).mode & 0o777).toBe(0o644);
    expect(await readFile(join(copy, 'lib/libpq.so.5'), 'utf8')).toBe('library');
    expect(await readdir(join(copy, 'lib'))).toEqual(['libpq.so.5', 'libpq.so.5.18']);
    const { ino } = await lstat(copy);
    expect((await lstat(copyPrograms(native, home))).ino).toBe(ino);
  });
});

describe('serverUserOf', () => {
  it('names the remedy if root owns the cluster, as after a copy of DATA_DIR by root', () => {
    const getuid = jest.spyOn(process, 'getuid').mockReturnValue(0);
    expect(() => serverUserOf('/etc')).toThrow(/belongs to root.*: chown -R postgres \/etc$/);
    getuid.mockRestore();
  });
});

describe('the package of PostgreSQL', () => {
  it('causes a one-line error on an unsupported platform', () => {
    expect(() => locateNative('sunos', 'x64')).toThrow(
      /^There is no embedded PostgreSQL for sunos-x64\. Set DATABASE_URL [^\n]*$/,
    );
  });

  it('gets the links that its install script would create', async () => {
    const native = locateNative();
    expect(linkLibraries(native)).toBe(true);

    const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
      target: string;
    }[];
    for (const { target } of links) {
      expect((await lstat(join(native, '..', target))).isSymbolicLink()).toBe(true);
    }
  });
});

describe('servesCluster', () => {
  it('is true only for a process that works in the directory of the cluster', () => {
    expect(servesCluster(process.pid, process.cwd())).toBe(true);
    expect(servesCluster(process.pid, '/data/postgres')).toBe(false);
    expect(servesCluster(2 ** 22 + 1, process.cwd())).toBe(false);
  });
});
