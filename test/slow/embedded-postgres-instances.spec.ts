import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { isAlive, readPostmasterFile } from '../../src/platform/database/embedded/server.js';
import { AppProcess } from '../support/embedded/app-process.js';
import { buildLauncher, openTempDir } from '../support/embedded/launcher-build.js';
import { query } from '../support/embedded/query.js';
import { eventually } from '../support/jobs/eventually.js';

describe('applications that share or abandon a data directory', () => {
  const root = openTempDir('instances');
  const dataDir = join(root, 'data');
  const cluster = join(dataDir, 'postgres');
  let app: string;

  beforeAll(() => {
    app = buildLauncher(join(root, 'app'), 'linked');
  });
  afterEach(AppProcess.endAll);
  afterAll(() => rmSync(root, { recursive: true }));

  const start = () => new AppProcess(app, dataDir);
  const socketDirIn = (url: string) => new URL(url).searchParams.get('host')!;

  it('start only one server if they start simultaneously on a new, a used or an abandoned directory', async () => {
    for (let round = 0; round < 2; round++) {
      const rivals = [start(), start(), start()];
      const results = await Promise.all(rivals.map((rival) => rival.event('started', 'failed')));

      const losers = results.filter(({ event }) => event === 'failed');
      expect(losers).toHaveLength(2);
      for (const { message } of losers) {
        expect(message).toMatch(/^[^\n]* is in use by another running instance[^\n]*$/);
      }
      const winner = results.findIndex(({ event }) => event === 'started');
      const third = await startEmbeddedPostgres({ dataDir }).catch((error: unknown) => error);
      expect(third).toBeInstanceOf(Error);
      expect(await query(results[winner]!.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      // So the next round finds the lock and the server of a killed process.
      await rivals[winner]!.kill();
    }
  });

  it('stop the server after the application was killed', async () => {
    const first = start();
    const socketDir = socketDirIn((await first.event('started')).url);

    await first.kill();

    await eventually(() => readPostmasterFile(cluster) === undefined);
    await eventually(() => !existsSync(socketDir));
  });

  it('keep the server running during the shutdown after Ctrl-C', async () => {
    const first = start();
    const { url } = await first.event('started');

    process.kill(-first.pid, 'SIGINT');
    await first.event('interrupted');

    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await first.stop();
    await expect(query(url, 'select 1')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('keep every acknowledged row after a kill of application, guard and server', async () => {
    const first = start();
    const { url, pid } = await first.event('started');
    await query(url, 'create table if not exists acknowledged (n int)');
    await query(url, 'insert into acknowledged select generate_series(1, 1000)');

    const socketDir = socketDirIn(url);
    expect(existsSync(socketDir)).toBe(true);

    process.kill(guardOf(pid), 'SIGKILL');
    process.kill(first.pid, 'SIGKILL');
    process.kill(pid, 'SIGKILL');
    const next = await start().event('started', 'failed');

    expect(next).toMatchObject({ event: 'started' });
    expect(await query(next.url, 'select count(*)::int as n from acknowledged')).toEqual([
      { n: 1000 },
    ]);
    expect(existsSync(socketDir)).toBe(false);
  });

  it('stop a server that an earlier application left running', async () => {
    const first = start();
    const { pid } = await first.event('started');
    process.kill(guardOf(pid), 'SIGKILL');
    await first.kill();
    expect(readPostmasterFile(cluster)?.pid).toBe(pid);
    expect(isAlive(pid)).toBe(true);

    const second = start();
    const { url } = await second.event('started');

    expect(second.logged.join()).toContain(`pid ${pid}`);
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(readPostmasterFile(cluster)?.pid).not.toBe(pid);
  });
});

/** Returns the shell that waits to shut down this server. It is the only other process in the server's session. */
function guardOf(server: number): number {
  const guard = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((pid) => {
      try {
        const [, , , , session] = readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /, '_ ')
          .split(' ');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return Number(session) === server && command.startsWith('/bin/sh');
      } catch {
        return false;
      }
    });
  return Number(guard);
}
