import { spawn } from 'node:child_process';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  readdir,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { linkLibraries, locateNative, privateCopy } from './binaries.js';
import { commandLine, isAlive, servesCluster } from './postmaster-file.js';
import { openTempDir } from '../../../../test/support/embedded/launcher-build.js';
import { eventually } from '../../../../test/support/jobs/eventually.js';

describe('privateCopy', () => {
  const root = openTempDir('copy');
  const native = join(root, 'package/native');
  let place: string;
  let round = 0;

  beforeAll(async () => {
    await mkdir(join(native, 'bin'), { recursive: true });
    await mkdir(join(native, 'lib'));
    await writeFile(join(native, 'bin/postgres'), 'program', { mode: 0o700 });
    await writeFile(join(native, 'lib/libpq.so.5.18'), 'library', { mode: 0o600 });
    await writeFile(join(native, 'lib/libpq.a'), 'static library');
    const link = { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' };
    await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify([link]));
  });
  beforeEach(async () => {
    place = join(root, `place-${round++}`);
    await mkdir(place);
  });
  afterAll(() => rm(root, { recursive: true }));

  it('copies programs and libraries, readable by all users and writable by the owner', async () => {
    const copy = await privateCopy(native, place);

    expect((await lstat(copy)).mode & 0o777).toBe(0o755);
    expect((await lstat(join(copy, 'bin/postgres'))).mode & 0o777).toBe(0o755);
    expect((await lstat(join(copy, 'lib/libpq.so.5.18'))).mode & 0o777).toBe(0o644);
    expect(await readFile(join(copy, 'lib/libpq.so.5'), 'utf8')).toBe('library');
    expect(await readdir(join(copy, 'lib'))).toEqual(['libpq.so.5', 'libpq.so.5.18']);
    expect(await readdir(place)).toHaveLength(1);
  });

  it('makes one copy for simultaneous starts', async () => {
    const copies = await Promise.all([1, 2, 3].map(() => privateCopy(native, place)));
    const { ino } = await lstat(copies[0]!);

    expect(new Set([...copies, await privateCopy(native, place)]).size).toBe(1);
    expect((await lstat(copies[0]!)).ino).toBe(ino);
    expect(await readdir(place)).toHaveLength(1);
  });

  it('replaces a missing file of the copy', async () => {
    const copy = await privateCopy(native, place);
    await rm(join(copy, 'lib/libpq.so.5.18'));

    await privateCopy(native, place);

    expect(await readFile(join(copy, 'lib/libpq.so.5'), 'utf8')).toBe('library');
    expect(await readdir(place)).toHaveLength(1);
  });

  it.each<[string, (copy: string) => Promise<void>]>([
    ['other users can write to it', (copy) => chmod(copy, 0o777)],
    [
      'its name is a link',
      async (copy) => {
        await rm(copy, { recursive: true });
        await symlink(native, copy);
      },
    ],
    // Only root can give a file to another user.
    ['another user created it', (copy) => chown(copy, 65534, 65534)],
  ])('rejects the copy if %s', async (name, change) => {
    if (name === 'another user created it' && process.getuid?.() !== 0) return;
    await change(await privateCopy(native, place));
    await expect(privateCopy(native, place)).rejects.toThrow(/other users can change it/);
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
