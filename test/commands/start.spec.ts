import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';

type Line = Readonly<Record<string, unknown>>;

describe('a start', () => {
  afterEach(() => ServiceProcess.endAll());

  const linesOf = (service: ServiceProcess): Line[] =>
    service.lines.map((line) => JSON.parse(line) as Line);

  it('logs three lines (data directory, first login, address), and the stop logs no warning', async () => {
    const service = await ServiceProcess.start();
    const { dataDir } = service;
    await service.logged(/Listening/);
    const messages = linesOf(service).map(({ msg }) => String(msg));
    expect(messages).toHaveLength(3);
    expect(messages.join('\n')).toContain(`keeps its data in ${join(dataDir, 'postgres')}`);
    expect(messages).toContain(
      `Who can log in: admin, with the password in ${join(dataDir, 'bootstrap-credentials.json')}; change it at /login/password.`,
    );
    const listening = linesOf(service).find(({ msg }) => String(msg).startsWith('Listening'));
    expect(listening).toMatchObject({
      msg: `Listening on ${service.url}`,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      docs: `${service.url}/docs`,
    });
    await service.stop();
    const stop = linesOf(service).slice(3);
    expect(stop.map(({ level }) => level)).toEqual(stop.map(() => 'info'));
    expect(stop.map(({ msg }) => String(msg)).join('\n')).not.toMatch(/connection was lost/);
  });

  it('fails before it creates a file if the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const service = new ServiceProcess({ settings: { PORT: String(port) } });
    expect(await service.exited).toMatchObject({ code: 1 });
    expect(service.lines).toEqual([
      `Not started: Cannot listen on 127.0.0.1:${port} (listen EADDRINUSE: address already in use 127.0.0.1:${port}). Stop the process that uses the port, or change HOST or PORT.`,
    ]);
    expect(readdirSync(service.dataDir)).toEqual([]);
    other.close();
  });

  it('fails with one sentence if DATA_DIR cannot be used', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'its-start-'));
    writeFileSync(join(folder, 'file'), '');
    const service = new ServiceProcess({ settings: { DATA_DIR: join(folder, 'file', 'data') } });
    expect(await service.exited).toMatchObject({ code: 1 });
    expect(service.lines).toHaveLength(1);
    expect(service.lines[0]).toMatch(
      /^Not started: DATA_DIR .*data cannot be used \(ENOTDIR: not a directory, .*\)\./,
    );
    rmSync(folder, { recursive: true });
  });

  it('fails with one sentence if DATA_DIR is in /proc', async () => {
    const service = new ServiceProcess({ settings: { DATA_DIR: '/proc/data/its' } });
    expect(await service.exited).toMatchObject({ code: 1 });
    expect(service.lines).toEqual([
      expect.stringMatching(/^Not started: DATA_DIR \/proc\/data\/its cannot be used \(/),
    ]);
  });

  it('reserves extra threads for slow DNS look-ups', async () => {
    const database = await createTestDatabase();
    const service = await ServiceProcess.start({ settings: { DATABASE_URL: database.url } });
    const threads = readdirSync(`/proc/${service.pid}/task`).map((id) =>
      readFileSync(`/proc/${service.pid}/task/${id}/comm`, 'utf8').trim(),
    );
    expect(threads.filter((name) => name === 'libuv-worker')).toHaveLength(16);
    await service.stop();
    await database.drop();
  });
});
