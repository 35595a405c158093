import { Controller, Get, Logger } from '@nestjs/common';
import { Requires } from '../../src/platform/access/access.js';
import type { LimitRecord } from '../../src/platform/limits/limit-storage.js';
import { MemoryLimitStorage } from '../../src/platform/limits/memory-limit-storage.js';
import {
  RedisCounter,
  SharedLimitStorage,
} from '../../src/platform/limits/shared-limit-storage.js';
import { startBareApp } from '../support/bare-app.js';
import { eventually } from '../support/jobs/eventually.js';
import { installedRedis, type RedisServer, startRedis } from '../support/redis-server.js';

@Controller('things')
@Requires('viewer')
class ThingsController {
  @Get()
  list(): string[] {
    return [];
  }
}

const program = installedRedis();
if (!program) {
  process.stderr.write(
    'Skipped: limits shared through Redis, for want of redis-server or valkey-server.\n',
  );
}

const MINUTE = 60_000;

(program ? describe : describe.skip)('Limits shared through Redis', () => {
  let redis: RedisServer;
  const open: SharedLimitStorage[] = [];
  const told: string[] = [];

  async function replica(): Promise<SharedLimitStorage> {
    const storage = new SharedLimitStorage(new RedisCounter(redis.url), new MemoryLimitStorage());
    await storage.onModuleInit();
    open.push(storage);
    return storage;
  }

  const take = (storage: SharedLimitStorage, key: string, limit = 5, ttl = MINUTE) =>
    storage.increment(key, ttl, limit, ttl, 'read');

  beforeAll(async () => {
    redis = await startRedis(program!);
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
    await redis.stop();
  });

  it('counts one limit for two replicas, also when all come at once', async () => {
    const [a, b] = [await replica(), await replica()];
    const all = await Promise.all(
      Array.from({ length: 60 }, (_, i) => take(i % 2 ? a : b, 'at-once', 20)),
    );
    expect(all.filter(({ isBlocked }) => !isBlocked)).toHaveLength(20);
    // A busy machine's Redis may be too late for a question, which the replica then answers from its own memory.
    const state = await eventually(
      () => b.peek('at-once', MINUTE, 20, 'read'),
      ({ isBlocked }) => isBlocked,
    );
    expect(state).toMatchObject({ totalHits: 20, isBlocked: true });
    expect(state.timeToBlockExpire).toBeGreaterThan(40);
    expect(state.timeToBlockExpire).toBeLessThanOrEqual(60);
  });

  it('lets through again whoever goes on trying: refused hits do not prolong the wait', async () => {
    const counter = new RedisCounter(redis.url);
    await counter.connected();
    try {
      const ttl = 1_000;
      // Not through the storage, which remembers by itself who is over the limit, and would not ask.
      const hit = (): Promise<LimitRecord> =>
        // Once more when a busy machine's Redis was too late.
        counter.count('stubborn', ttl, 3, 'read', 1).catch(hit);
      const refused = [await eventually(hit, ({ isBlocked }) => isBlocked)];
      const passed = await eventually(hit, (seen) => {
        if (seen.isBlocked) refused.push(seen);
        return !seen.isBlocked;
      });
      expect(passed.totalHits).toBeLessThanOrEqual(3);
      expect(refused.map(({ totalHits }) => totalHits)).toEqual(refused.map(() => 3));
      const waits = refused.map(({ timeToBlockExpire }) => timeToBlockExpire);
      expect(waits).toEqual(waits.toSorted((a, b) => b - a));
    } finally {
      counter.close();
    }
  });

  it('keeps little, under names of its own, and not for longer than it counts', async () => {
    const one = await replica();
    for (let i = 0; i < 300; i += 1) await take(one, 'little', 1_000, 700);
    const key = 'its:limit:read:little';
    expect(await redis.admin.llen(key)).toBeLessThanOrEqual(2 * 61);
    await eventually(async () => (await redis.admin.exists(key)) === 0);
    const all = await redis.admin.keys('*');
    expect(all.filter((name) => !name.startsWith('its:limit:'))).toEqual([]);
  });

  it('goes on from its own count when Redis dies, says so once, and comes back by itself', async () => {
    const [a, b] = [await replica(), await replica()];
    for (let i = 0; i < 3; i += 1) await take(a, 'dies');
    await take(b, 'dies');
    await redis.kill();
    const blocked: boolean[] = [];
    for (let i = 0; i < 4; i += 1) blocked.push((await take(a, 'dies')).isBlocked);
    // It had let 3 of its own through, and lets 2 more: 5 is the limit.
    expect(blocked).toEqual([false, false, true, true]);
    expect(told.filter((line) => /does not count/.test(line))).toHaveLength(1);
    await redis.start();
    for (const storage of [a, b]) await eventually(() => storage.sharedWorks());
    expect((await take(a, 'after')).totalHits).toBe(1);
    expect((await take(b, 'after')).totalHits).toBe(2);
    expect(told.filter((line) => /counts rate limits again/.test(line))).toHaveLength(1);
  });

  it('knows whether Redis counts: not while it is away or takes no writes', async () => {
    const one = await replica();
    const becomes = (expected: boolean) =>
      eventually(
        () => one.sharedWorks(),
        (works) => works === expected,
      );
    await becomes(true);
    // A standby without its master answers every read.
    await redis.admin.replicaof('127.0.0.1', 1);
    await becomes(false);
    await redis.admin.replicaof('no', 'one');
    await becomes(true);
    await redis.kill();
    await becomes(false);
    await redis.start();
    await becomes(true);
  });

  it('waits for a hung Redis once, and not with every request', async () => {
    const one = await replica();
    await take(one, 'hung', 1_000);
    redis.hang();
    try {
      const asked = jest.spyOn(RedisCounter.prototype, 'count');
      for (let i = 0; i < 100; i += 1) {
        expect((await take(one, 'hung', 1_000)).isBlocked).toBe(false);
      }
      expect(asked.mock.calls.length).toBeLessThanOrEqual(10);
      asked.mockRestore();
    } finally {
      redis.goOn();
    }
    await eventually(() => one.sharedWorks());
    await take(one, 'hung-after', 10);
    expect(await redis.admin.exists('its:limit:read:hung-after')).toBe(1);
  });

  it('answers requests of two replicas of the service from one count, and without Redis too', async () => {
    const settings = { RATE_LIMIT_READ: '6', REDIS_URL: redis.url };
    const apps = await Promise.all(
      [0, 1].map(() => startBareApp({ controllers: [ThingsController], settings })),
    );
    try {
      // In turn: all at once could keep a busy machine's Redis waiting for longer than the service has patience.
      const statuses: number[] = [];
      for (let i = 0; i < 12; i += 1) {
        statuses.push((await apps[i % 2]!.as('ana').get('/things')).status);
      }
      expect(statuses.filter((status) => status === 200)).toHaveLength(6);
      await redis.kill();
      const alone = await Promise.all(
        apps.flatMap((app) => [1, 2].map(() => app.as('ben').get('/things'))),
      );
      expect(alone.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    } finally {
      for (const app of apps) await app.close();
      await redis.start();
    }
  });
});
