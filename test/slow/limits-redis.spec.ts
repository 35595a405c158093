import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadSettings } from '../../src/platform/config/settings.js';
import { LimitStorage } from '../../src/platform/limits/limit-storage.js';
import { freePort } from '../support/embedded/on-loopback.js';
import { eventually } from '../support/jobs/eventually.js';
import { makeKey, type TestKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const program = installedRedis();
if (!program) {
  process.stderr.write(
    'Skipped: limits shared through Redis, because redis-server or valkey-server is missing.\n',
  );
}

const MINUTE = 60_000;

(program ? describe : describe.skip)('Limits shared through Redis', () => {
  const redis = useStarted(() => startRedis(program!));
  const open: LimitStorage[] = [];
  const told: string[] = [];

  async function replica(): Promise<LimitStorage> {
    const storage = await LimitStorage.open(loadSettings({ REDIS_URL: redis.url }));
    open.push(storage);
    return storage;
  }

  const take = (storage: LimitStorage, key: string, limit = 5, ttl = MINUTE) =>
    storage.increment(key, ttl, limit, ttl, 'read');

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => {
      told.push(String(line));
    });
    jest.spyOn(Logger.prototype, 'log').mockImplementation((line: unknown) => {
      told.push(String(line));
    });
  });
  beforeEach(() => told.splice(0));
  afterEach(() => {
    for (const storage of open.splice(0)) storage.onModuleDestroy();
  });
  afterAll(async () => {
    jest.restoreAllMocks();
  });

  it('shares one limit between two replicas, even for simultaneous requests', async () => {
    const [a, b] = [await replica(), await replica()];
    const all = await Promise.all(
      Array.from({ length: 60 }, (_, i) => take(i % 2 ? a : b, 'at-once', 20)),
    );
    expect(all.filter(({ isBlocked }) => !isBlocked)).toHaveLength(20);
    // Repeats the read: on a busy machine, Redis may respond too late, and the replica then counts in its own memory.
    const state = await eventually(
      () => b.peek('at-once', MINUTE, 20, 'read'),
      ({ isBlocked }) => isBlocked,
    );
    expect(state.timeToBlockExpire).toBeGreaterThan(0);
    expect(state.timeToBlockExpire).toBeLessThanOrEqual(60);
  });

  it('stores one small entry under its own prefix until the end of the window', async () => {
    const one = await replica();
    await one.increment('little', 1_000, 1_000, 0, 'short');
    const key = 'its:limit:short:little';
    expect(await redis.admin.get(key)).toBe('1');
    await eventually(async () => (await redis.admin.exists(key)) === 0);
    const all = await redis.admin.keys('*');
    expect(all.filter((name) => !name.startsWith('its:limit:'))).toEqual([]);
  });

  it('counts locally while Redis is down, logs the outage once, and returns to Redis', async () => {
    const [a, b] = [await replica(), await replica()];
    await redis.kill();
    const blocked: boolean[] = [];
    for (let i = 0; i < 7; i += 1) blocked.push((await take(a, 'dies')).isBlocked);
    expect(blocked).toEqual([false, false, false, false, false, true, true]);
    expect(told.filter((line) => /does not count/.test(line)).length).toBeLessThanOrEqual(2);
    await redis.start();
    for (const storage of [a, b]) await eventually(() => storage.sharedWorks());
    expect((await take(a, 'after')).totalHits).toBe(1);
    expect((await take(b, 'after')).totalHits).toBe(2);
    expect(told.filter((line) => /counts rate limits again/.test(line)).length).toBeGreaterThan(0);
  });

  it('reports Redis as unavailable while Redis is down or rejects writes', async () => {
    const one = await replica();
    const becomes = (expected: boolean) =>
      eventually(
        () => one.sharedWorks(),
        (works) => works === expected,
      );
    await becomes(true);
    // A standby whose master is gone answers every read.
    await redis.admin.replicaof('127.0.0.1', 1);
    await becomes(false);
    await redis.admin.replicaof('no', 'one');
    await becomes(true);
    await redis.kill();
    await becomes(false);
    await redis.start();
    await becomes(true);
  });

  it('does not wait for a hung Redis, and returns to Redis afterwards', async () => {
    const one = await replica();
    await take(one, 'hung', 1_000);
    redis.hang();
    try {
      for (let i = 0; i < 100; i += 1) {
        expect((await take(one, 'hung', 1_000)).isBlocked).toBe(false);
      }
      expect(told).toContainEqual(expect.stringMatching(/does not count/));
    } finally {
      redis.goOn();
    }
    await eventually(() => one.sharedWorks());
    await take(one, 'hung-after', 10);
    expect(await redis.admin.exists('its:limit:read:hung-after')).toBe(1);
  });

  it('applies one count to two replicas of the service, and continues without Redis', async () => {
    const settings = { RATE_LIMIT_READ: '6', REDIS_URL: redis.url };
    const first = await startTestApp({ settings });
    const apps = [first, await startTestApp({ settings, database: first.database })];
    try {
      const [ana, ben] = [await makeKey(first, 'viewer'), await makeKey(first, 'viewer')];
      const ask = (app: TestApp, { key }: TestKey) =>
        app.get('/api/me', { authorization: `Bearer ${key}` });
      // Sends the requests one after another, because on a busy machine Redis could respond too late to parallel
      // requests.
      const statuses: number[] = [];
      for (let i = 0; i < 12; i += 1) statuses.push((await ask(apps[i % 2]!, ana)).status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(6);
      await redis.kill();
      const alone = await Promise.all([...apps, ...apps].map((app) => ask(app, ben)));
      expect(alone.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    } finally {
      for (const app of apps.toReversed()) await app.close();
      await redis.start();
    }
  });
});

/** Returns the name of the installed server: Redis, or the fork that some distributions use. */
function installedRedis(): string | undefined {
  return ['redis-server', 'valkey-server'].find((name) => {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

interface RedisServer {
  readonly url: string;
  readonly admin: Redis;
  /** Stops responding, but keeps its connections open. */
  hang(): void;
  goOn(): void;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

async function startRedis(program: string): Promise<RedisServer> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = spawn(
      program,
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore', cwd: '/tmp' },
    );
    await answers(url);
  };
  await start();
  const admin = new Redis(url, { maxRetriesPerRequest: null, disconnectTimeout: 100 });
  admin.on('error', () => undefined);
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  return {
    url,
    admin,
    hang: () => void server.kill('SIGSTOP'),
    goOn: () => void server.kill('SIGCONT'),
    kill,
    start,
    stop: async () => {
      admin.disconnect();
      await kill();
    },
  };
}

async function answers(url: string): Promise<void> {
  const client = new Redis(url, {
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
    disconnectTimeout: 100,
  });
  client.on('error', () => undefined);
  try {
    await Promise.race([
      client.ping(),
      sleep(5_000, undefined, { ref: false }).then(() => {
        throw new Error('Redis does not start.');
      }),
    ]);
  } finally {
    client.disconnect();
  }
}
