import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/database/embedded/embedded-postgres.js';
import { isAlive } from '../../src/platform/database/embedded/server.js';
import { openTempDir } from '../support/embedded/launcher-build.js';
import { query } from '../support/embedded/query.js';
import { eventually } from '../support/jobs/eventually.js';

describe('the embedded PostgreSQL', () => {
  const dataDir = openTempDir('data');
  const log: string[] = [];
  let server: EmbeddedPostgres;

  const start = async () => {
    server = await startEmbeddedPostgres({ dataDir, log: (line) => log.push(line) });
    return server;
  };
  const socketDirIn = (url: string) => new URL(url).searchParams.get('host')!;
  const inDataDir = (name: string) => join(dataDir, name);

  beforeAll(start);
  afterAll(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true });
  });

  it('has a role that owns its database and is no superuser, and safe settings', async () => {
    const [row] = await query(
      server.url,
      `select current_database() as database, current_user as role, rolsuper,
              (select pg_get_userbyid(datdba) from pg_database where datname = current_database()) as owner
         from pg_roles where rolname = current_user`,
    );
    expect(row).toEqual({
      database: 'incidents',
      role: 'incidents',
      rolsuper: false,
      owner: 'incidents',
    });
    await query(server.url, 'create extension pg_trgm');
    expect(await query(server.url, `select lower('Ä') as lower`)).toEqual([{ lower: 'ä' }]);
    const rows = await query<{ name: string; setting: string }>(
      server.url,
      `select name, setting from pg_settings where name in
       ('data_checksums', 'fsync', 'full_page_writes', 'listen_addresses', 'max_connections')`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      data_checksums: 'on',
      fsync: 'on',
      full_page_writes: 'on',
      listen_addresses: '',
      max_connections: '60',
    });
  });

  it('lets only its OS user connect, by a socket with a short path', () => {
    for (const name of ['postgres.log', 'postgres.lock']) {
      expect([name, statSync(inDataDir(name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    const socketDir = socketDirIn(server.url);
    const socket = join(socketDir, '.s.PGSQL.5432');
    expect(statSync(socket).isSocket()).toBe(true);
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(107);
    expect(statSync(socketDir).mode & 0o077).toBe(0);
  });

  it('stops once for repeated calls, and leaves no process and no socket', async () => {
    const { pid } = server;
    const socketDir = socketDirIn(server.url);

    await Promise.all([server.stop(), server.stop()]);
    await server.stop();

    expect(isAlive(pid)).toBe(false);
    expect(existsSync(socketDir)).toBe(false);
    expect(existsSync(inDataDir('postgres/postmaster.pid'))).toBe(false);
    await start();
  });

  it('restarts at the same address with its rows after a kill', async () => {
    const { url, pid } = server;
    const pool = new Pool({ connectionString: url, max: 3 });
    pool.on('error', () => undefined);
    await pool.query('create table killed (n int)');
    await pool.query('insert into killed values (1), (2), (3)');

    process.kill(pid, 'SIGKILL');
    await eventually(() => !isAlive(pid));
    const rows = await eventually(() =>
      pool.query('select count(*)::int as n from killed').then(
        (result) => result.rows as unknown[],
        () => undefined,
      ),
    );
    await pool.end();

    expect(rows).toEqual([{ n: 3 }]);
    expect(server.pid).not.toBe(pid);
    expect(server.url).toBe(url);
    expect(log.join('\n')).toContain(`(pid ${pid}) ended`);
  });

  it('stays down if it is stopped during a restart of the server', async () => {
    const { pid, url } = server;
    process.kill(pid, 'SIGKILL');
    await eventually(() => !isAlive(pid));

    await server.stop();

    await expect(query(url, 'select 1')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(isAlive(server.pid)).toBe(false);
  });

  it.each(['a dead server', 'another program'])(
    'starts in spite of the pid file of %s',
    async (whose) => {
      await server.stop();
      // A process of the same user, because postgres ignores processes of other users.
      const { uid, gid } = statSync(inDataDir('postgres'));
      const other = spawn('/bin/sh', ['-c', 'read -r line'], { uid, gid, cwd: '/' });
      await once(other, 'spawn');
      if (whose === 'a dead server') {
        other.kill();
        await once(other, 'exit');
      }
      writeFileSync(
        inDataDir('postgres/postmaster.pid'),
        `${other.pid}\n${inDataDir('postgres')}\n1700000000\n5432\n/nowhere\n127.0.0.1\n        1         1\nready   \n`,
      );

      await start();

      expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect(other.signalCode).toBe(whose === 'a dead server' ? 'SIGTERM' : null);
      other.kill();
    },
  );

  it('rejects a data directory of a version before 0.1.0 in one line', async () => {
    await server.stop();
    writeFileSync(inDataDir('postgres.password'), 'secret');
    await expect(start()).rejects.toThrow(/^A version before 0\.1\.0 created [^\n]+$/);
    rmSync(inDataDir('postgres.password'));
  });

  it('rejects the cluster of another major version in one line and leaves it unchanged', async () => {
    await server.stop();
    const version = inDataDir('postgres/PG_VERSION');
    const genuine = readFileSync(version);
    writeFileSync(version, '17\n');
    try {
      const failure = await start().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect((failure as Error).message).toMatch(/^[^\n]*PostgreSQL 17[^\n]*18[^\n]*$/);
      expect(readFileSync(version, 'utf8')).toBe('17\n');
    } finally {
      writeFileSync(version, genuine);
    }
  });

  it('reports the error of the server in one line', async () => {
    const other = openTempDir('complaint');
    const failure = await startEmbeddedPostgres({
      dataDir: other,
      parameters: { fsync: 'off', shared_buffers: 'plenty' },
    }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).toMatch(
      /^[^\n]*invalid value for parameter "shared_buffers"[^\n]*$/,
    );
    rmSync(other, { recursive: true });
  });

  it('starts from scratch after an interrupted first start', async () => {
    const other = openTempDir('interrupted');
    mkdirSync(join(other, 'postgres.new-former/base'), { recursive: true });
    const fresh = await startEmbeddedPostgres({ dataDir: other, parameters: { fsync: 'off' } });

    expect(await query(fresh.url, 'show fsync')).toEqual([{ fsync: 'off' }]);
    expect(readdirSync(other).filter((name) => name.includes('.new-'))).toEqual([]);
    await fresh.stop();
    rmSync(other, { recursive: true });
  });
});
