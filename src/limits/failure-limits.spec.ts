import { FailureLimits, networkOf } from './failure-limits.js';
import { MemoryLimitStorage } from './memory-limit-storage.js';

describe('FailureLimits', () => {
  it('lets ten logins of one address fail in a minute, and frees it after that', async () => {
    const clock = { now: 0 };
    const failures = new FailureLimits(new MemoryLimitStorage(() => clock.now));
    for (let i = 0; i < 10; i += 1) {
      expect(await failures.blocked('login', '192.0.2.1')).toBeUndefined();
      expect(await failures.record('login', '192.0.2.1')).toBeUndefined();
    }
    clock.now = 500;
    expect(await failures.blocked('login', '192.0.2.1')).toBe(60);
    expect(await failures.blocked('login', '192.0.2.2')).toBeUndefined();
    expect(await failures.blocked('key', '192.0.2.1')).toBeUndefined();
    clock.now = 60_000;
    expect(await failures.blocked('login', '192.0.2.1')).toBeUndefined();
  });

  it('tells guesses that were made all at once to wait', async () => {
    const failures = new FailureLimits(new MemoryLimitStorage());
    const told = await Promise.all(
      Array.from({ length: 50 }, () => failures.record('login', '192.0.2.1')),
    );
    expect(told.filter((wait) => wait === undefined)).toHaveLength(10);
  });

  it('counts an IPv6 network as one address', async () => {
    expect(networkOf('2001:db8:1:2:aaaa::1')).toBe(networkOf('2001:db8:1:2:bbbb::2'));
    expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'));
    expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1');
  });
});
