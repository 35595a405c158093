import { Controller, Get, Module, Param, Post } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import { createKey } from '../../src/auth/credentials.js';
import { CHECK_CACHE_MS } from '../../src/health/health.service.js';
import { Public } from '../../src/platform/access/access.js';
import { poolOf } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { Answer } from '../support/api-client.js';
import { PrivateServer } from '../support/private-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const READ = { name: 'probe_read', text: 'select count(*)::int as rows from probe' };

/** Routes that use the database in each way in which the service uses it. */
@Controller('test-only/db')
@Public()
class DatabaseProbeController {
  constructor(
    private readonly statements: Statements,
    private readonly transactions: Transactions,
    private readonly dataSource: DataSource,
  ) {}

  @Get('statement')
  async statement(): Promise<unknown> {
    return (await this.statements.rows(READ))[0];
  }

  @Get('query')
  async query(): Promise<unknown> {
    return (await this.dataSource.query<unknown[]>(READ.text))[0];
  }

  @Post('write')
  write(): Promise<unknown> {
    return this.transactions.run(async (tx) => {
      await tx.query('insert into probe default values');
      return { written: 1 };
    });
  }

  /** Writes twice, with a pause in which a test can interrupt the database. */
  @Post('slow-write/:ms')
  slowWrite(@Param('ms') ms: string): Promise<unknown> {
    return this.transactions.run(async (tx) => {
      await tx.query('insert into probe default values');
      await sleep(Number(ms));
      await tx.query('insert into probe default values');
      return { written: 2 };
    });
  }
}

@Module({ controllers: [DatabaseProbeController] })
class DatabaseProbeModule {}

const PROBE_TABLE = 'create table probe (id bigint generated always as identity primary key)';
const PROBE_PATHS = /^\/test-only\/db\//;

const POOL = 4;
const METRICS_TOKEN = 'a-token-of-the-operators';
const STATEMENT_MS = 1_000;
const CONNECT_MS = 700;

const WAYS = [
  ['GET', '/test-only/db/statement'],
  ['GET', '/test-only/db/query'],
  ['POST', '/test-only/db/write'],
] as const;

describe('the service during a database outage', () => {
  let server: PrivateServer;
  let proxy: TcpProxy;
  let app: TestApp;

  beforeAll(async () => {
    server = await PrivateServer.start({ max_connections: '30' });
    await migrate(server.url, schema);
    await server.query(PROBE_TABLE);
    const before = await TcpProxy.before(server.url);
    proxy = before.proxy;
    app = await startTestApp({
      database: { url: before.url },
      modules: [DatabaseProbeModule],
      undocumented: PROBE_PATHS,
      settings: {
        METRICS_TOKEN,
        DATABASE_POOL_SIZE: String(POOL),
      },
      timeLimits: { statementMs: STATEMENT_MS, connectMs: CONNECT_MS },
    });
  });
  afterAll(async () => {
    await app.close();
    await proxy.close();
    await server.remove();
  });

  const rows = async (): Promise<number> =>
    (await app.get('/test-only/db/statement')).body.data.rows;

  async function expectUnavailable(request: Promise<Answer>): Promise<void> {
    const { status, body, headers } = await request;
    expect([status, body.error?.code]).toEqual([503, 'service_unavailable']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }

  async function expectOutage(): Promise<void> {
    await Promise.all(WAYS.map(([method, path]) => expectUnavailable(app.request(method, path))));
    expect((await app.get('/live')).status).toBe(200);
    const ready = await app.get('/ready');
    expect([ready.status, ready.body.checks]).toEqual([503, { database: 'unreachable' }]);
    expect((await app.get('/health')).body.status).toBe('unhealthy');
    await expectClosedAuthentication();
  }

  /** Expects that authentication fails without the database, but that operators can still read the cause. */
  async function expectClosedAuthentication(): Promise<void> {
    const unknown = { headers: { authorization: `Bearer ${createKey().key}` } };
    await expectUnavailable(app.request('GET', '/api/me', unknown));
    await expectUnavailable(app.request('GET', '/health/detailed', unknown));
    const login = { username: 'ada', password: 'a password for tests' };
    expect((await app.post('/login', login)).status).toBe(503);
    expect((await app.get('/api/me')).status).toBe(401);
    const operator = { headers: { authorization: `Bearer ${METRICS_TOKEN}` } };
    const health = await app.request('GET', '/health/detailed', operator);
    expect([health.status, health.body.components.database.status]).toEqual([503, 'unhealthy']);
    expect((await app.request('GET', '/metrics', operator)).status).toBe(200);
  }

  /** Expects that the service recovers without a restart and returns every connection to the pool. */
  async function expectRecovery(): Promise<void> {
    const end = Date.now() + 20_000;
    for (let calm = 0; calm < 4; await sleep(200)) {
      const ready = await app.get('/ready');
      const answers = await Promise.all(
        [...WAYS, ...WAYS].map(([method, path]) => app.request(method, path)),
      );
      const wrong = [ready, ...answers].map(({ status }) => status).filter((one) => one >= 300);
      calm = wrong.length === 0 ? calm + 1 : 0;
      expect(wrong.filter((status) => status !== 503)).toEqual([]);
      if (Date.now() > end) throw new Error(`The service did not recover: ${String(wrong)}`);
    }
    const pool = poolOf(app.nest.get(DataSource));
    // Background jobs also use a connection for short times.
    const isWhole = () => pool.waitingCount === 0 && pool.totalCount === pool.idleCount;
    for (let look = 0; look < 200 && !isWhole(); look += 1) await sleep(10);
    expect(isWhole()).toBe(true);
    expect(pool.totalCount).toBeLessThanOrEqual(POOL);
    const inTransaction = () =>
      server.query(`select pid from pg_stat_activity where state like 'idle in transaction%'`);
    // Background work also opens transactions, so it is enough if one query finds no open transaction.
    let open = await inTransaction();
    for (let look = 0; look < 500 && open.length > 0; look += 1) {
      await sleep(10);
      open = await inTransaction();
    }
    expect(open).toEqual([]);
  }

  afterEach(async () => {
    await expectRecovery();
    // `/ready` returns its last result for a short time, so the next outage may become visible only later.
    await sleep(CHECK_CACHE_MS);
  });

  it('answers 503 while the server is stopped', async () => {
    await server.stop();
    await expectOutage();
    await server.startAgain();
    proxy.target = server.port;
  });

  it('answers 503 while the server hangs', async () => {
    server.pause();
    try {
      await expectOutage();
    } finally {
      server.resume();
    }
  });

  it('answers 503 while the network drops all packets, and does not reuse hung connections', async () => {
    await Promise.all(WAYS.map(([method, path]) => app.request(method, path)));
    const before = await sessions();
    proxy.hang();
    await expectOutage();
    proxy.restore();
    await expectRecovery();
    expect((await sessions()).filter((pid) => before.includes(pid))).toEqual([]);
  });

  it('continues after the server has crashed and restarted', async () => {
    server.crash();
    for (const [method, path] of WAYS) {
      const { status } = await app.request(method, path);
      expect([200, 201, 503]).toContain(status);
    }
  });

  it('answers 503 while the server closes each new connection after its login', async () => {
    proxy.endAtOnce();
    try {
      await server.killSessions();
      await sleep(200);
      for (let round = 0; round < 5; round += 1) await expectOutage();
    } finally {
      proxy.restore();
    }
  });

  it('answers 503 and rolls back if the connection of a transaction is killed', async () => {
    const before = await rows();
    const write = app.post('/test-only/db/slow-write/600');
    await sleep(200);
    await server.killSessions(`state = 'idle in transaction'`);
    await expectUnavailable(write);
    expect(await rows()).toBe(before);
  });

  it('answers writes with 503 on a standby, and continues once a primary accepts writes', async () => {
    const before = await rows();
    const name = new URL(server.url).pathname.slice(1);
    await server.query(`alter database ${name} set default_transaction_read_only = on`);
    await server.killSessions();
    await sleep(200);
    await expectUnavailable(app.post('/test-only/db/write'));
    expect(await rows()).toBe(before);
    await server.query(
      `set session characteristics as transaction read write; begin read write; alter database ${name} reset default_transaction_read_only; commit`,
    );
    // Each connection to the former standby fails at most once.
    const statuses: number[] = [];
    for (let i = 0; i < POOL + 5; i += 1) {
      statuses.push((await app.post('/test-only/db/write')).status);
    }
    expect(statuses.filter((status) => status === 503).length).toBeLessThan(POOL);
    expect(statuses.slice(-5)).toEqual(Array(5).fill(201));
  });

  async function sessions(): Promise<number[]> {
    const found = await server.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'incident-triage-service'`,
    );
    return found.map(({ pid }) => pid);
  }
});
