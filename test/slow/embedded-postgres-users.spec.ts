import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { linkLibraries } from '../../src/platform/database/embedded/cluster.js';
import { AppProcess, type OsUser } from '../support/embedded/app-process.js';
import { buildLauncher, installedNative, openTempDir } from '../support/embedded/launcher-build.js';
import { query } from '../support/embedded/query.js';

const isRoot = process.getuid?.() === 0;
/** The tests with processes of root need root. The tests with an unprivileged user always run. */
const itAsRoot = isRoot ? it : it.skip;

describe(`the OS user of the embedded PostgreSQL${isRoot ? '' : ' (run as root for all tests)'}`, () => {
  const root = openTempDir('users');
  const nobody: OsUser = { uid: 65534, gid: 65534 };
  const plainUser: OsUser = isRoot ? nobody : userInfo();
  let app: string;

  beforeAll(() => {
    // A copy of the package, because an unprivileged user may not be able to read the checkout.
    app = buildLauncher(join(root, 'app'), 'installed');
    linkLibraries(installedNative(join(root, 'app')));
  });
  afterEach(AppProcess.endAll);
  afterAll(async () => {
    await rm(root, { recursive: true });
  });

  const started = (program: string, dataDir: string, user?: OsUser) =>
    new AppProcess(program, dataDir, user).event('started', 'failed');
  const newDir = async (name: string, mode: number, owner: OsUser = { uid: 0, gid: 0 }) => {
    const directory = join(root, name);
    await mkdir(directory);
    await chmod(directory, mode);
    if (isRoot) await chown(directory, owner.uid, owner.gid);
    return directory;
  };

  itAsRoot('is never root, and owns only the cluster in a closed DATA_DIR', async () => {
    const dataDir = await newDir('root-data', 0o700);
    const { event, pid } = await started(app, dataDir);

    expect(event).toBe('started');
    expect(uidOf(pid)).not.toBe(0);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(uidOf(pid));
    expect((await stat(join(dataDir, 'postgres'))).mode & 0o077).toBe(0);
  });

  itAsRoot('is the owner of the cluster, where there is one', async () => {
    const dataDir = await newDir('changing-hands', 0o755, nobody);
    const first = new AppProcess(app, dataDir, nobody);
    await first.event('started');
    await first.stop();

    expect(uidOf((await started(app, dataDir)).pid)).toBe(nobody.uid);
  });

  it('is the current user if it is not root', async () => {
    const dataDir = await newDir('plain-data', 0o700, plainUser);
    const { event, pid, url } = await started(app, dataDir, plainUser);

    expect(event).toBe('started');
    expect(uidOf(pid)).toBe(plainUser.uid);
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  itAsRoot(
    'gets a copy of the programs, and keeps its data, when the checkout is closed',
    async () => {
      const checkout = await newDir('closed-checkout', 0o700);
      const program = buildLauncher(checkout, 'installed');
      const dataDir = join(checkout, '.data');
      const first = new AppProcess(program, dataDir);
      const { event, url, pid } = await first.event('started', 'failed');
      expect(event).toBe('started');
      expect(copyInUse(pid).startsWith(root)).toBe(false);
      expect(await stat(copyInUse(pid))).toMatchObject({ uid: 0 });
      expect((await stat(copyInUse(pid))).mode & 0o022).toBe(0);
      await query(url, 'create table kept as select 42 as n');
      await first.stop();

      const second = await started(program, dataDir);

      expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
    },
  );

  itAsRoot('serves a DATA_DIR that moves to a closed folder', async () => {
    const open = await newDir('open', 0o755);
    const closed = await newDir('closed', 0o700);
    const before = new AppProcess(app, join(open, 'data'));
    await query((await before.event('started')).url, 'create table moved as select 7 as n');
    await before.stop();
    await rename(join(open, 'data'), join(closed, 'data'));

    const { url } = await started(app, join(closed, 'data'));

    expect(await query(url, 'select n from moved')).toEqual([{ n: 7 }]);
  });

  itAsRoot('runs a copy when it may not complete the installed package', async () => {
    const checkout = await newDir('root-installed', 0o755);
    const program = buildLauncher(checkout, 'installed');
    const dataDir = await newDir('user-data', 0o700, nobody);

    const { event, pid } = await started(program, dataDir, nobody);

    expect(event).toBe('started');
    expect(copyInUse(pid).startsWith(dataDir)).toBe(true);
    expect((await stat(copyInUse(pid))).uid).toBe(nobody.uid);
  });

  it('gets the advice to set DATABASE_URL on an unsupported platform', async () => {
    const program = buildLauncher(await newDir('no-package', 0o755), 'none');

    const { event, message } = await started(program, join(root, 'no-data'));

    expect(event).toBe('failed');
    expect(message).toMatch(
      /^There is no embedded PostgreSQL for [^\n]*\. Set DATABASE_URL[^\n]*$/,
    );
  });

  itAsRoot('is told in one line that it does not own the cluster or may not write', async () => {
    const foreign = await newDir('foreign-data', 0o755, nobody);
    await mkdir(join(foreign, 'postgres'));
    const readOnly = await newDir('read-only-data', 0o755);
    for (const [dataDir, words] of [
      [foreign, /^[^\n]*postgres belongs to the user with id 0[^\n]*$/],
      [readOnly, /^DATA_DIR [^\n]*must be able to write to this folder[^\n]*$/],
    ] as const) {
      const { event, message } = await started(app, dataDir, nobody);
      expect({ event, message }).toEqual({
        event: 'failed',
        message: expect.stringMatching(words),
      });
    }
  });

  it('gets a one-line error if DATA_DIR cannot be created', async () => {
    const file = join(root, 'file');
    await writeFile(file, '');
    const { event, message } = await started(app, join(file, 'data'));
    expect(event).toBe('failed');
    expect(message).toMatch(/^[^\n]+$/);
  });
});

function uidOf(pid: number): number {
  return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** Returns the folder of bin/postgres of a running server. */
function copyInUse(pid: number): string {
  const [program] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  return dirname(dirname(program!));
}
