/** @jest-environment-options {"ownModules": true} */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionLostError } from '../platform/database/sqlstate.js';
import { createKey, CredentialCache, hashOf, readKey, VALID_MS } from './credentials.js';

/** Fake database table that counts its reads. */
class Table {
  readonly rows = new Map<string, string>();
  readonly reads: (readonly string[])[] = [];
  finished = 0;
  delayMs = 0;
  failure: Error | undefined;

  readonly read = async (keys: readonly string[]): Promise<Map<string, string>> => {
    this.reads.push(keys);
    const seen = new Map(
      keys.flatMap((key) => (this.rows.has(key) ? [[key, this.rows.get(key)!] as const] : [])),
    );
    await sleep(this.delayMs, undefined, { ref: this.delayMs < 10_000 });
    this.finished += 1;
    if (this.failure) throw this.failure;
    return seen;
  };
}

describe('CredentialCache', () => {
  let table: Table;
  let cache: CredentialCache<string>;

  beforeEach(() => {
    table = new Table();
    table.rows.set('a', 'A').set('b', 'B');
    cache = new CredentialCache(table.read);
  });

  it('reads a key once for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => cache.get('a')));
    expect(new Set(answers)).toEqual(new Set(['A']));
    expect(table.reads).toEqual([['a']]);
    await cache.get('a');
    expect(table.reads).toHaveLength(1);
  });

  it('reads many unknown keys in few statements', async () => {
    table.delayMs = 5;
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => cache.get(`stranger ${index}`)));
    expect(table.reads.length).toBeLessThan(12);
  });

  it('caches for a short time that a key is missing, and finds the key soon after it was added', async () => {
    expect(await cache.get('new')).toBeUndefined();
    expect(await cache.get('new')).toBeUndefined();
    expect(table.reads).toHaveLength(1);
    table.rows.set('new', 'N');
    await sleep(VALID_MS);
    expect(await cache.get('new')).toBe('N');
  });

  it('drops a revoked key in time, even if requests use it constantly', async () => {
    let now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    const use = async (ms: number) => {
      for (const end = now + ms; now < end; now += 5) await cache.get('a');
    };
    await use(3_000);
    table.rows.delete('a');
    await use(VALID_MS);
    expect(await cache.get('a')).toBeUndefined();
    clock.mockRestore();
  });

  it('reads a credential again after the cache was cleared', async () => {
    await cache.get('a');
    table.rows.delete('a');
    cache.clear();
    expect(await cache.get('a')).toBeUndefined();
  });

  it('does not use the result of a read that was running when the cache was cleared', async () => {
    table.delayMs = 100;
    const before = cache.get('a');
    await sleep(20);
    table.rows.delete('a');
    cache.clear();
    expect(await cache.get('a')).toBeUndefined();
    expect(await before).toBe('A');
    expect(await cache.get('a')).toBeUndefined();
  });

  it('does not use the result of a read that began long before the request', async () => {
    table.delayMs = VALID_MS + 300;
    const first = cache.get('a');
    await sleep(VALID_MS + 100);
    // The row is deleted after the read. The second request comes while the first read has not returned.
    table.rows.delete('a');
    table.delayMs = 0;
    const second = cache.get('a');
    expect(await first).toBe('A');
    expect(await second).toBeUndefined();
  });

  it('counts the age of a cached result from the start of its read', async () => {
    table.delayMs = 600;
    await cache.get('a');
    table.rows.delete('a');
    table.delayMs = 0;
    await sleep(VALID_MS - 600 + 50);
    expect(await cache.get('a')).toBeUndefined();
  });

  it('rejects all waiting requests after a failed read, and reads again for the next request', async () => {
    table.failure = new ConnectionLostError('gone');
    const all = await Promise.allSettled(['a', 'b', 'c'].map((key) => cache.get(key)));
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(table.reads).toEqual([['a', 'b', 'c']]);
    table.failure = undefined;
    expect(await cache.get('a')).toBe('A');
  });

  it('rejects all waiting requests at the same time when the database hangs', async () => {
    table.delayMs = 60_000;
    const all = await Promise.allSettled(['a', 'b', 'c'].map((key) => cache.get(key)));
    expect(all.every(({ status }) => status === 'rejected')).toBe(true);
    expect(table.finished).toBe(0);
  });

  it('drops expired entries, however many keys are requested', async () => {
    let now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    const strangers = Array.from({ length: 1_000 }, (_, index) => `stranger ${index}`);
    await Promise.all(strangers.map((key) => cache.get(key)));
    const { known } = cache as unknown as { known: Map<string, unknown> };
    expect(known.size).toBe(1_000);
    now += VALID_MS + 1;
    await cache.get('a');
    expect([...known.keys()]).toEqual(['a']);
    clock.mockRestore();
  });
});

describe('the format of API keys', () => {
  it('creates unique keys of the documented form', () => {
    const keys = Array.from({ length: 500 }, () => createKey());
    expect(new Set(keys.map(({ key }) => key)).size).toBe(500);
    expect(new Set(keys.map(({ prefix }) => prefix)).size).toBe(500);
    for (const { key, prefix, hash } of keys) {
      expect(key).toMatch(/^its_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
      expect(key.slice(4, 12)).toBe(prefix);
      expect(hash).toEqual(hashOf(key));
      expect(hash).toHaveLength(32);
    }
  });

  it.each([
    '',
    'its_',
    'its_AAAAAAAA',
    `its_AAAAAAAA_${'A'.repeat(42)}`,
    `its_AAAAAAAA_${'A'.repeat(44)}`,
    `its_AAAA-AAA_${'A'.repeat(43)}`,
    `ITS_AAAAAAAA_${'A'.repeat(43)}`,
    `its_AAAAAAAA_${'A'.repeat(43)}\n`,
  ])('rejects the text %j', (text) => {
    expect(readKey(text)).toBeUndefined();
  });
});
