import { spawn } from 'node:child_process';
import { lstat, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyPrograms, linkLibraries, locateNative } from './binaries.js';
import { commandLine, isAlive, servesCluster } from './postmaster-file.js';
import { openTempDir } from '../../../../test/support/embedded/launcher-build.js';
import { eventually } from '../../../../test/support/jobs/eventually.js';

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
    const copy = await copyPrograms(native, home);

    expect((await lstat(copy)).mode & 0o777).toBe(0o755);
    expect((await lstat(join(copy, 'bin/postgres'))).mode & 0o777).toBe(0o755);
    expect((await lstat(join(copy, 'lib/libpq.so.5.18'))).mode & 0o777).toBe(0o644);
    expect(await readFile(join(copy, 'lib/libpq.so.5'), 'utf8')).toBe('library');
    expect(await readdir(join(copy, 'lib'))).toEqual(['libpq.so.5', 'libpq.so.5.18']);
    const { ino } = await lstat(copy);
    expect((await lstat(await copyPrograms(native, home))).ino).toBe(ino);
  });

  it('replaces the copy of another version and an interrupted copy', async () => {
    await mkdir(join(home, 'postgres.programs-18.5.0.interrupted'));
    await writeFile(join(root, 'package/package.json'), '{"version":"18.6.0"}');

    await copyPrograms(native, home);

    expect(await readdir(home)).toEqual(['postgres.programs-18.6.0']);
  });
});

describe('the package of PostgreSQL', () => {
  it('is not found on an unsupported platform, with a one-line error', () => {
    expect(() => locateNative('sunos', 'x64')).toThrow(
      /^There is no embedded PostgreSQL for sunos-x64\. Set DATABASE_URL [^\n]*$/,
    );
  });

  it('gets the links that its install script would create', async () => {
    const native = locateNative();
    expect(await linkLibraries(native)).toBe(true);

    const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
      target: string;
    }[];
    for (const { target } of links) {
      expect((await lstat(join(native, '..', target))).isSymbolicLink()).toBe(true);
    }
  });
});

describe('servesCluster', () => {
  it('is false for a process that is not PostgreSQL, and for an unused pid', async () => {
    expect(await servesCluster(process.pid, '/data/postgres')).toBe(false);
    expect(await servesCluster(2 ** 22 + 1, '/data/postgres')).toBe(false);
  });

  it('is false for the orphan guard and for a server of another cluster', async () => {
    const arguments_ = [
      '-c',
      'read -r line; :',
      ...'sh /x/bin/postgres -D /data/postgres -p'.split(' '),
    ];
    const guard = spawn('/bin/sh', arguments_, { stdio: ['pipe', 'ignore', 'ignore'] });
    const pretender = spawn('/bin/sh', ['-c', 'read -r line; :'], {
      argv0: '/x/bin/postgres -D /data/postgres -p',
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    try {
      await eventually(async () => (await commandLine(guard.pid!)).startsWith('/bin/sh'));
      expect(await servesCluster(guard.pid!, '/data/postgres')).toBe(false);
      await eventually(async () => servesCluster(pretender.pid!, '/data/postgres'));
      expect(await servesCluster(pretender.pid!, '/data/postgres2')).toBe(false);
      expect(await servesCluster(pretender.pid!, '/data')).toBe(false);
    } finally {
      guard.stdin.end();
      pretender.stdin.end();
    }
  });

  it('reads the command line with ps if /proc is missing', async () => {
    const own = await commandLine(process.pid, '/nowhere');
    expect(own).toContain('node');
    expect(own.endsWith(' ')).toBe(true);
    expect(await commandLine(2 ** 22 + 1, '/nowhere')).toBe('');
    expect(isAlive(process.pid)).toBe(true);
  });
});
