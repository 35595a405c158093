import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/jobs/eventually.js';
import { PrivateServer } from '../support/private-server.js';
import { ServiceProcess } from '../support/service-process.js';
import { TcpProxy } from '../support/tcp-proxy.js';

/** Where an unhandled rejection or error would end it: a process of its own, as it is deployed. */
describe('a service whose database comes and goes', () => {
  let server: PrivateServer;
  let proxy: TcpProxy;
  let service: ServiceProcess;
  beforeAll(async () => {
    server = await PrivateServer.start();
    const before = await TcpProxy.before(server.url);
    proxy = before.proxy;
    service = await ServiceProcess.start({
      settings: {
        DATABASE_URL: before.url,
        DATABASE_STATEMENT_TIMEOUT_MS: '500',
        DATABASE_CONNECT_TIMEOUT_MS: '300',
        BOOTSTRAP_ADMIN_API_KEY: `its_${'a'.repeat(8)}_${'b'.repeat(43)}`,
      },
    });
  });
  afterAll(async () => {
    await ServiceProcess.endAll();
    await proxy.close();
    await server.remove();
  });

  const ready = async (): Promise<number> => (await service.client.request('GET', '/ready')).status;
  const until = async (status: number): Promise<void> => {
    for (const end = Date.now() + 20_000; (await ready()) !== status; await sleep(100)) {
      if (Date.now() > end) throw new Error(`/ready never became ${status}.`);
    }
  };

  it('says first that the database cannot be reached, once, and no error besides', async () => {
    await until(200);
    const before = service.lines.length;
    const logged = () =>
      service.lines
        .slice(before)
        .map((line) => JSON.parse(line) as { level: string; msg: string })
        // A busy machine may hold a transaction for longer than the short timeout of this test.
        .filter(({ msg }) => msg !== 'request' && !msg.includes('idle-in-transaction'));
    await server.stop();
    try {
      // Nobody asks: the service notices by itself, and its loops go on failing meanwhile.
      await eventually(logged, (lines) => lines.length > 0);
      await sleep(3_000);
    } finally {
      await server.startAgain();
      proxy.target = server.port;
    }
    await eventually(logged, (lines) => lines.some(({ msg }) => msg.includes('is back')));
    await until(200);
    const lines = logged().map(({ level, msg }) => `${level}: ${msg}`);
    expect(lines[0]).toBe('error: The database cannot be reached.');
    expect(lines.filter((line) => /^(error|warn)/.test(line))).toEqual(lines.slice(0, 1));
    expect(lines.join()).toMatch(/The database is back after \d+ s\./);
  });

  it.each<[string, () => void | Promise<void>, () => void | Promise<void>]>([
    [
      'stopped',
      () => server.stop(),
      async () => (await server.startAgain(), (proxy.target = server.port), undefined),
    ],
    ['hanging', () => server.pause(), () => server.resume()],
    ['swallowed by the network', () => proxy.hang(), () => proxy.restore()],
  ])('lives on while it is %s, and is ready by itself afterwards', async (_, harm, mend) => {
    await until(200);
    await harm();
    try {
      await until(503);
      const keyed = service.client.with({
        authorization: `Bearer its_${'a'.repeat(8)}_${'b'.repeat(43)}`,
      });
      for (let i = 0; i < 3; i += 1) {
        const begin = performance.now();
        const [live, me] = await Promise.all([
          service.client.request('GET', '/live'),
          keyed.request('GET', '/api/me'),
        ]);
        expect(live.status).toBe(200);
        expect(me.status).toBe(503);
        expect(me.headers['retry-after']).toBeDefined();
        expect(performance.now() - begin).toBeLessThan(6_000);
        await sleep(300);
      }
    } finally {
      await mend();
    }
    await until(200);
  });

  it('outlives its server being killed again and again', async () => {
    for (let i = 0; i < 3; i += 1) {
      await until(200);
      server.crash();
      await sleep(500);
    }
    await until(200);
  });

  it('is still the same process, and stops as it should', async () => {
    expect(service.lines.filter((line) => /unhandled|uncaught/i.test(line))).toEqual([]);
    expect(await service.stop()).toMatchObject({ code: 0 });
  });
});
