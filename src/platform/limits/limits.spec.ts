import type { FastifyReply } from 'fastify';
import { FailureLimits, LimitCounter } from './limits.js';
import { LimitStorage } from './limit-storage.js';

const LIMIT = { name: 'login', perMinute: 5 };
const MINUTE = 60_000;
/** Limit of a /48, as a multiple of the limit of a /64. */
const SITE_SHARE = 8;

describe('LimitCounter.chargeAddress', () => {
  let storage: LimitStorage;
  let counter: LimitCounter;
  let headers: Record<string, string>;
  const reply = {
    headers: (given: Record<string, string>) => (headers = given),
  } as unknown as FastifyReply;

  beforeEach(() => {
    storage = new LimitStorage();
    counter = new LimitCounter(storage);
  });

  const charge = (subnet: number): Promise<number> =>
    counter.chargeAddress(LIMIT, `2001:db8:0:${subnet.toString(16)}::1`, reply).then(
      () => 200,
      (error: { status: number }) => error.status,
    );
  const countOf = async (network: string): Promise<number> =>
    (await storage.peek(`address ${network}`, MINUTE, LIMIT.perMinute, LIMIT.name)).totalHits;

  it('rejects every /64 network of a /48 network that has reached its limit', async () => {
    for (let subnet = 0; subnet < SITE_SHARE; subnet += 1) {
      for (let count = 0; count < LIMIT.perMinute; count += 1)
        expect(await charge(subnet)).toBe(200);
    }
    for (let count = 0; count < 3; count += 1) expect(await charge(99)).toBe(429);
    expect(headers['x-ratelimit-limit']).toBe(String(SITE_SHARE * LIMIT.perMinute));
  });

  it('does not charge the /48 network if the /64 network rejects the request', async () => {
    for (let count = 0; count < LIMIT.perMinute + 3; count += 1) await charge(1);
    expect(await countOf('2001:db8::/48')).toBe(LIMIT.perMinute);
  });
});

const FOR_60_S = { code: 'rate_limited', extras: { headers: { 'retry-after': '60' } } };

describe('FailureLimits', () => {
  let failures: FailureLimits;

  beforeEach(() => {
    jest.useFakeTimers();
    failures = new FailureLimits(new LimitStorage());
  });
  afterEach(() => jest.useRealTimers());

  it('allows ten failed logins of an address per minute, and unblocks it afterwards', async () => {
    for (let i = 0; i < 10; i += 1) {
      expect(await failures.blocked('login', '192.0.2.1')).toBeUndefined();
      expect(await failures.record('login', '192.0.2.1')).toBeUndefined();
    }
    jest.advanceTimersByTime(500);
    expect(await failures.blocked('login', '192.0.2.1')).toMatchObject(FOR_60_S);
    expect(await failures.blocked('login', '192.0.2.2')).toBeUndefined();
    expect(await failures.blocked('key', '192.0.2.1')).toBeUndefined();
    jest.advanceTimersByTime(59_500);
    expect(await failures.blocked('login', '192.0.2.1')).toBeUndefined();
  });

  it('makes parallel guesses wait', async () => {
    const told = await Promise.all(
      Array.from({ length: 50 }, () => failures.record('login', '192.0.2.1')),
    );
    expect(told.filter((wait) => wait === undefined)).toHaveLength(10);
  });

  it('counts a /64 as one address, and its /48 with a higher limit', async () => {
    const failed: string[] = [];
    for (let subnet = 0; subnet < 20; subnet += 1) {
      for (let host = 0; host < 20; host += 1) {
        const address = `2001:db8:1:${subnet}::${host}`;
        if ((await failures.record('login', address)) === undefined) failed.push(address);
      }
    }
    // Each /64 may have ten failures, until the /48 has eight times that number.
    expect(failed).toHaveLength(80);
    expect(await failures.blocked('login', '2001:db8:1:ffff::1')).toMatchObject(FOR_60_S);
    expect(await failures.blocked('login', '2001:db8:2::1')).toBeUndefined();
  });

  it('allows ten failed guesses of the password of an account per minute, and sixty per hour', async () => {
    const failed: number[] = [];
    for (let now = 0; now < 3_600_000; now += 1_000, jest.advanceTimersByTime(1_000)) {
      if (await failures.blocked('account', 'someone')) continue;
      await failures.record('account', 'someone');
      failed.push(now);
    }
    expect(failed).toHaveLength(60);
    expect(failed[9]).toBeLessThan(60_000);
    expect(failed[10]).toBeGreaterThanOrEqual(59_000);
    expect(await failures.blocked('account', 'somebody else')).toBeUndefined();
    expect(await failures.blocked('account', 'someone')).toBeUndefined();
  });
});
