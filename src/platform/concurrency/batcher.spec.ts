import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionLostError } from '../database/sqlstate.js';
import { Batcher, sharedRuns } from './batcher.js';

describe('Batcher', () => {
  it('returns the result of each write, in the order of the writes', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher(async (rows: readonly number[]) => {
      batches.push([...rows]);
      await sleep(5);
      return rows.map((row) => row * 10);
    });
    const numbers = Array.from({ length: 1_000 }, (_, i) => i);
    expect(await Promise.all(numbers.map((n) => batcher.submit(n)))).toEqual(
      numbers.map((n) => n * 10),
    );
    expect(batches.flat()).toEqual(numbers);
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(batches.length).toBeLessThanOrEqual(11);
  });

  it('sends a lone write immediately, and never exceeds the limit of concurrent batches', async () => {
    let underWay = 0;
    let most = 0;
    const batcher = new Batcher(
      async (rows: readonly number[]) => {
        underWay += 1;
        most = Math.max(most, underWay);
        await sleep(5);
        underWay -= 1;
        return rows;
      },
      10,
      2,
    );
    let isSent = false;
    const lone = new Batcher((rows: readonly number[]) => {
      isSent = true;
      return Promise.resolve(rows);
    }).submit(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSent).toBe(true);
    await lone;
    await Promise.all(Array.from({ length: 200 }, (_, i) => batcher.submit(i)));
    expect(most).toBe(2);
  });

  it('starts a second batch when as many rows wait as are in flight, and sends every row', async () => {
    const sizes: number[] = [];
    const answers: (() => void)[] = [];
    const batcher = new Batcher((rows: readonly number[]) => {
      sizes.push(rows.length);
      return new Promise<readonly number[]>((resolve) => answers.push(() => resolve(rows)));
    });
    const written: Promise<number>[] = [];
    const write = async (count: number) => {
      for (let n = 0; n < count; n += 1) written.push(batcher.submit(written.length));
      await sleep(2);
    };
    await write(10);
    await write(6);
    expect(sizes).toEqual([10]);
    await write(4);
    expect(sizes).toEqual([10, 10]);
    await write(3);
    answers[0]!();
    await sleep(2);
    expect(sizes).toEqual([10, 10]);
    answers[1]!();
    await sleep(2);
    expect(sizes).toEqual([10, 10, 3]);
    answers[2]!();
    expect(await Promise.all(written)).toEqual(written.map((_, index) => index));
  });

  it('rejects only the bad row of a batch', async () => {
    const duplicate = Object.assign(new Error('duplicate key'), { code: '23505' });
    const batcher = new Batcher((rows: readonly number[]) =>
      rows.includes(13) ? Promise.reject(duplicate) : Promise.resolve(rows),
    );
    const outcome = await Promise.allSettled(
      Array.from({ length: 30 }, (_, i) => batcher.submit(i)),
    );
    outcome.forEach(({ status }, i) =>
      expect([i, status]).toEqual([i, i === 13 ? 'rejected' : 'fulfilled']),
    );
  });

  it.each([
    new ConnectionLostError('gone'),
    Object.assign(new Error('admin shutdown'), { code: '57P01' }),
    new Error('Query read timeout'),
    Object.assign(new Error('full'), { code: '53100' }),
  ])('does not repeat a batch whose outcome is unknown: %s', async (error) => {
    let sent = 0;
    const batcher = new Batcher((rows: readonly number[]) => {
      sent += rows.length;
      return Promise.reject(error);
    });
    const outcome = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => batcher.submit(i)),
    );
    expect(outcome.every(({ status }) => status === 'rejected')).toBe(true);
    expect(sent).toBe(20);
  });

  it('repeats a batch row by row after a deadlock', async () => {
    let calls = 0;
    const batcher = new Batcher((rows: readonly number[]) => {
      calls += 1;
      return calls === 1
        ? Promise.reject(Object.assign(new Error('deadlock'), { code: '40P01' }))
        : Promise.resolve(rows);
    });
    expect(await Promise.all([1, 2, 3].map((n) => batcher.submit(n)))).toEqual([1, 2, 3]);
    expect(calls).toBe(4);
  });

  it('rejects a batch with a wrong number of results, and continues with the next', async () => {
    const batcher = new Batcher((rows: readonly number[]) =>
      Promise.resolve(rows.length > 1 ? [] : rows),
    );
    expect(await Promise.all([1, 2].map((n) => batcher.submit(n)))).toEqual([1, 2]);
    const none = new Batcher(() => Promise.resolve([]));
    await expect(none.submit(1)).rejects.toThrow('returned 0 results');
    await expect(none.submit(2)).rejects.toThrow('returned 0 results');
  });

  it('rejects the writes if the writer throws synchronously', async () => {
    const batcher = new Batcher<number, number>(() => {
      throw new Error('at once');
    });
    await expect(Promise.all([1, 2, 3].map((n) => batcher.submit(n)))).rejects.toThrow('at once');
    await expect(batcher.submit(4)).rejects.toThrow('at once');
  });
});

describe('sharedRuns', () => {
  it('runs only once more for all calls that arrive during a run', async () => {
    let runs = 0;
    const run = sharedRuns(async () => {
      runs += 1;
      await sleep(5);
      return runs;
    });
    const first = run();
    await sleep(1);
    const during = await Promise.all([run(), run(), run()]);
    expect([await first, during, await run()]).toEqual([1, [2, 2, 2], 3]);
  });
});
