import { FailureLimits } from './limits.js';
import { LimitStorage } from './limit-storage.js';

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

  it('counts an IPv6 /64 as one address', async () => {
    const failed: string[] = [];
    for (let host = 0; host < 20; host += 1) {
      const address = `2001:db8:1:2::${host}`;
      if ((await failures.record('login', address)) === undefined) failed.push(address);
    }
    expect(failed).toHaveLength(10);
    expect(await failures.blocked('login', '2001:db8:1:2:ffff::1')).toMatchObject(FOR_60_S);
    expect(await failures.blocked('login', '2001:db8:1:3::1')).toBeUndefined();
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
