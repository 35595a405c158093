import { setTimeout as sleep } from 'node:timers/promises';
import { CredentialCache, VALID_MS } from './credential-cache.js';

/** A database with one table, which tells what was read of it. */
class Table {
  readonly rows = new Map<string, string>();
  readonly reads: (readonly string[])[] = [];
  delayMs = 0;
  failure: Error | undefined;

  readonly read = async (keys: readonly string[]): Promise<Map<string, string>> => {
    this.reads.push(keys);
    const seen = new Map(
      keys.flatMap((key) => (this.rows.has(key) ? [[key, this.rows.get(key)!] as const] : [])),
    );
    await sleep(this.delayMs, undefined, { ref: this.delayMs < 10_000 });
    if (this.failure) throw this.failure;
    return seen;
  };
}

describe('FreshReads', () => {
  let table: Table;
  let fresh: CredentialCache<string>;

  beforeEach(() => {
    table = new Table();
    table.rows.set('a', 'A').set('b', 'B');
    fresh = new CredentialCache(table.read);
  });

  it('reads once what many ask for at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => fresh.get('a')));
    expect(new Set(answers)).toEqual(new Set(['A']));
    expect(table.reads).toEqual([['a']]);
    await fresh.get('a');
    expect(table.reads).toHaveLength(1);
  });

  it('reads in a few statements whatever many strangers ask for', async () => {
    table.delayMs = 5;
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => fresh.get(`stranger ${index}`)));
    expect(table.reads.length).toBeLessThan(12);
  });

  it('does not ask again at once for what does not exist, and soon sees when it does', async () => {
    expect(await fresh.get('new')).toBeUndefined();
    expect(await fresh.get('new')).toBeUndefined();
    expect(table.reads).toHaveLength(1);
    table.rows.set('new', 'N');
    await sleep(VALID_MS);
    expect(await fresh.get('new')).toBe('N');
  });

  it('forgets what is gone in time, also while it is in use all the time', async () => {
    const until = performance.now() + 300;
    while (performance.now() < until) {
      expect(await fresh.get('a')).toBe('A');
      await sleep(5);
    }
    table.rows.delete('a');
    const gone = performance.now();
    while ((await fresh.get('a')) !== undefined) await sleep(5);
    expect(performance.now() - gone).toBeLessThan(VALID_MS + 100);
  });

  describe.each<[string, (reads: CredentialCache<string>) => void]>([
    ['a key', (reads) => reads.forget('a')],
    ['what is such', (reads) => reads.forgetWhere((value) => value === 'A')],
  ])('told to forget %s', (_, forget) => {
    it('reads it again at the next use', async () => {
      await fresh.get('a');
      table.rows.delete('a');
      forget(fresh);
      expect(await fresh.get('a')).toBeUndefined();
    });

    it('does not rest on a read that was under way', async () => {
      table.delayMs = 100;
      const before = fresh.get('a');
      await sleep(20);
      table.rows.delete('a');
      forget(fresh);
      expect(await fresh.get('a')).toBeUndefined();
      expect(await before).toBe('A');
      expect(await fresh.get('a')).toBeUndefined();
    });
  });

  it('goes on remembering what it was not told to forget', async () => {
    await Promise.all([fresh.get('a'), fresh.get('b')]);
    fresh.forgetWhere((value) => value === 'A');
    await fresh.get('b');
    expect(table.reads).toHaveLength(1);
  });

  it('refreshes what is in use without making anyone wait', async () => {
    await fresh.get('a');
    table.delayMs = 250;
    const until = performance.now() + 3 * VALID_MS;
    let slowest = 0;
    while (performance.now() < until) {
      const from = performance.now();
      await fresh.get('a');
      slowest = Math.max(slowest, performance.now() - from);
      await sleep(5);
    }
    expect(slowest).toBeLessThan(table.delayMs - 50);
    expect(table.reads.length).toBeLessThan(8);
  });

  it('does not rest on a read that began long before the question', async () => {
    table.delayMs = VALID_MS + 300;
    const first = fresh.get('a');
    await sleep(VALID_MS + 100);
    // Revoked after that read had seen it; asked for while that read is still under way.
    table.rows.delete('a');
    table.delayMs = 0;
    const second = fresh.get('a');
    expect(await first).toBe('A');
    expect(await second).toBeUndefined();
  });

  it('counts the age of an answer from the start of its read', async () => {
    table.delayMs = 600;
    await fresh.get('a');
    table.rows.delete('a');
    table.delayMs = 0;
    await sleep(VALID_MS - 600 + 50);
    expect(await fresh.get('a')).toBeUndefined();
  });

  it('tells a failure to all who wait, and tries again for the next', async () => {
    table.failure = new Error('gone');
    const all = await Promise.allSettled(['a', 'b', 'c'].map((key) => fresh.get(key)));
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(table.reads).toEqual([['a', 'b', 'c']]);
    table.failure = undefined;
    expect(await fresh.get('a')).toBe('A');
  });

  it('gives up a database that hangs, for all who wait at once', async () => {
    table.delayMs = 60_000;
    const from = performance.now();
    const all = await Promise.allSettled(['a', 'b', 'c'].map((key) => fresh.get(key)));
    expect(all.every(({ status }) => status === 'rejected')).toBe(true);
    expect(performance.now() - from).toBeLessThan(4_000);
  });

  it('keeps what exists however many invented keys come by', async () => {
    // Nothing grows old meanwhile, however slow the machine is.
    const now = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    await fresh.get('a');
    const strangers = Array.from({ length: 5_000 }, (_, index) => `stranger ${index}`);
    await Promise.all(strangers.map((key) => fresh.get(key)));
    const before = table.reads.length;
    await fresh.get('a');
    expect(table.reads.slice(before).flat()).toEqual([]);
    now.mockRestore();
  });
});
