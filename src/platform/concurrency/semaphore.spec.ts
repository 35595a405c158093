import { setImmediate as turn } from 'node:timers/promises';
import { Semaphore } from './semaphore.js';

describe('a semaphore', () => {
  it('lets as much work run at a time as it has places', async () => {
    const semaphore = new Semaphore(3);
    let running = 0;
    let most = 0;
    const work = async (n: number): Promise<number> => {
      most = Math.max(most, (running += 1));
      await turn();
      running -= 1;
      return n;
    };
    const numbers = Array.from({ length: 10 }, (_, n) => n);

    expect(await Promise.all(numbers.map((n) => semaphore.run(() => work(n))))).toEqual(numbers);
    expect(most).toBe(3);
    expect(semaphore.isIdle).toBe(true);
  });

  it('gives a place that is free again to who asked first, before who only tries', async () => {
    const semaphore = new Semaphore(1);
    const release = semaphore.tryAcquire()!;
    const order: string[] = [];
    const first = semaphore.acquire().then((next) => (order.push('first'), next));
    const second = semaphore.acquire().then((next) => (order.push('second'), next));

    release();
    expect(semaphore.tryAcquire()).toBeUndefined();
    (await first)();
    (await second)();
    expect(order).toEqual(['first', 'second']);
    expect(semaphore.isIdle).toBe(true);
  });

  it('takes a place back once, however often it is given back', () => {
    const semaphore = new Semaphore(2);
    const release = semaphore.tryAcquire()!;
    semaphore.tryAcquire();
    release();
    release();

    expect(semaphore.tryAcquire()).toBeDefined();
    expect(semaphore.tryAcquire()).toBeUndefined();
    expect(semaphore.isIdle).toBe(false);
  });

  it('gets the place back from work that fails', async () => {
    const semaphore = new Semaphore(1);
    const failing = semaphore.run(() => Promise.reject(new Error('No answer.')));

    await expect(failing).rejects.toThrow('No answer.');
    expect(semaphore.isIdle).toBe(true);
  });
});
