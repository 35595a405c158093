import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/jobs/eventually.js';
import { RawConnection } from '../support/raw-http.js';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';
import { useStarted } from '../support/use-started.js';

describe('shutdown', () => {
  const database = useStarted(() => createTestDatabase());
  afterEach(() => ServiceProcess.endAll());

  const KEY = `its_shutdown_${'k'.repeat(43)}`;
  const start = (settings: Record<string, string> = {}) =>
    ServiceProcess.start({
      settings: { DATABASE_URL: database.url, BOOTSTRAP_ADMIN_API_KEY: KEY, ...settings },
    });

  /** Sends a request whose body has begun and has not ended. */
  async function halfSent(service: ServiceProcess): Promise<RawConnection> {
    const connection = await RawConnection.open(service.port);
    connection.send(
      `POST /api/api-keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
    );
    expect((await connection.answer()).status).toBe(100);
    return connection.send('{');
  }

  const refused = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(false);
      });
      socket.once('error', () => resolve(true));
    });

  it('fails readiness immediately, answers requests during the delay, and closes each connection', async () => {
    const service = await start({ SHUTDOWN_DELAY_MS: '60000' });
    const idle = await RawConnection.open(service.port);
    idle.send('GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await idle.answer()).headers.connection).toBe('keep-alive');
    service.signal('SIGTERM');
    await service.logged(/SIGTERM: stopping/);

    const ready = await service.client.get('/ready');
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: 'not_ready', checks: { service: 'stopping' } },
    ]);
    expect((await service.client.get('/live')).status).toBe(200);
    idle.send('GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
    const last = await idle.answer();
    expect([last.status, last.headers.connection]).toEqual([200, 'close']);
    await idle.untilClosed();
  });

  it('finishes a running request, accepts no new request, ignores a second signal, and then exits', async () => {
    const service = await start({ SHUTDOWN_GRACE_MS: '60000' });
    const slow = await halfSent(service);
    service.signal('SIGTERM');
    await eventually(() => refused(service.port));
    service.signal('SIGTERM');
    service.signal('SIGINT');
    slow.send('}');
    const answer = await slow.answer();
    expect(answer.body.error.code).toBe('validation_error');
    expect(answer.headers.connection).toBe('close');
    expect((await service.exited).code).toBe(0);
    expect(service.lines.filter((line) => line.includes(': stopping.'))).toHaveLength(1);
  });

  it('exits in time when idle connections are open', async () => {
    const service = await start({ SHUTDOWN_GRACE_MS: '20000' });
    const used = await RawConnection.open(service.port);
    used.send('GET /live HTTP/1.1\r\nHost: x\r\n\r\n');
    await used.answer();
    const unused = await RawConnection.open(service.port);
    const halfHead = await RawConnection.open(service.port);
    halfHead.send('GET /live HTTP/1.1\r\nHost:');
    await sleep(100);
    expect((await service.stop()).code).toBe(0);
    await Promise.all([used.untilClosed(), unused.untilClosed()]);
    halfHead.close();
  });

  it('aborts unfinished requests after the grace period, and still exits with 0', async () => {
    const service = await start({ SHUTDOWN_GRACE_MS: '1000' });
    const stuck = await halfSent(service);
    expect((await service.stop()).code).toBe(0);
    expect(service.lines.join('\n')).toContain('did not finish within SHUTDOWN_GRACE_MS');
    await stuck.untilClosed();
  });

  it('stops on SIGINT and on SIGTERM, with exit code 0 and without a delay', async () => {
    const service = await start();
    expect((await service.client.get('/ready')).status).toBe(200);
    service.signal('SIGINT');
    expect(await service.exited).toMatchObject({ code: 0, signal: null });
    expect(service.lines.at(-1)).toContain('Stopped.');
  });

  it('reports an unresponsive database once, and stops while it waits for this database', async () => {
    const DATABASE_URL = 'postgres://nobody:nothing@127.0.0.1:1/none';
    const service = new ServiceProcess({ settings: { DATABASE_URL } });
    await service.logged(/does not answer/);
    await sleep(1_500);
    expect((await service.stop()).code).toBe(0);
    expect(service.lines.filter((line) => line.includes('does not answer'))).toHaveLength(1);
  });

  describe('with the embedded database', () => {
    const postmasterOf = (service: ServiceProcess): number | undefined => {
      const file = join(service.dataDir, 'postgres', 'postmaster.pid');
      return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
    };
    const isAlive = (pid: number): boolean => {
      try {
        process.kill(pid, 0);
        return true;
      } catch {
        return false;
      }
    };
    const embedded = {
      DATABASE_URL: '',
      BOOTSTRAP_ADMIN_API_KEY: KEY,
    };

    it('stops PostgreSQL after the running requests have finished', async () => {
      const service = await ServiceProcess.start({ settings: embedded });
      const slow = await halfSent(service);
      const postmaster = postmasterOf(service)!;
      expect(isAlive(postmaster)).toBe(true);
      service.signal('SIGTERM');
      await eventually(() => refused(service.port));
      expect(isAlive(postmaster)).toBe(true);
      slow.send('}');
      expect((await slow.answer()).status).toBe(422);
      expect((await service.exited).code).toBe(0);
      expect(isAlive(postmaster)).toBe(false);
      expect(postmasterOf(service)).toBeUndefined();
    });

    it.each([50, 600, 1_200])(
      'leaves no process and no lock if it is stopped %i ms after its start',
      async (ms) => {
        const service = new ServiceProcess({ settings: embedded });
        await sleep(ms);
        const exit = await service.stop();
        // If the signal arrives before the first line of the program, the program ends like any other process.
        expect(exit.code === 0 || (exit.signal === 'SIGTERM' && service.lines.length === 0)).toBe(
          true,
        );
        // If the start takes longer than the grace period, the guard stops the database server after the process has
        // ended.
        await eventually(
          () => postmasterOf(service),
          (postmaster) => postmaster === undefined || !isAlive(postmaster),
        );
      },
    );
  });
});
