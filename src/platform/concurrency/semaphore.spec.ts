import { setImmediate as turn } from 'node:timers/promises';
import { Semaphore, LoopTurns } from './semaphore.js';

describe('a semaphore', () => {
  it('runs as many tasks at a time as it has places', async () => {
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
  });

  it('starts waiting tasks in the order of their requests, even after a failed task', async () => {
    const semaphore = new Semaphore(1);
    const order: number[] = [];
    const task = (n: number) =>
      semaphore.run(async () => {
        order.push(n);
        if (n === 1) throw new Error('No answer.');
      });
    const tasks = [1, 2, 3].map((n) => task(n).catch(() => undefined));
    await Promise.all(tasks);
    await task(4);
    expect(order).toEqual([1, 2, 3, 4]);
  });

  it('starts preferred tasks first, and rejects the last task in this order if too many tasks wait', async () => {
    const limit = { most: 2, error: () => new Error('Too many wait.') };
    const semaphore = new Semaphore(1, limit);
    const order: string[] = [];
    const task = (name: string, isPreferred: boolean) =>
      semaphore
        .run(async () => void order.push(name), { isPreferred })
        .catch((error: Error) => order.push(`${name}: ${error.message}`));
    const tasks = ['running', 'first', 'second', 'rejected'].map((name) => task(name, false));
    tasks.push(task('owner', true));
    await Promise.all(tasks);
    expect(order.toSorted()).toEqual(
      [
        'rejected: Too many wait.',
        'second: Too many wait.',
        'running',
        'owner',
        'first',
      ].toSorted(),
    );
    expect(order.indexOf('owner')).toBeLessThan(order.indexOf('first'));
  });
});

/** Counts the turns of the event loop during the work. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe('LoopTurns', () => {
  afterEach(() => jest.restoreAllMocks());

  it('yields to the event loop between long tasks, however many tasks wait', async () => {
    const turns = new LoopTurns();
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const long = () => turns.run(() => (now += 6));
    expect(await turnsDuring(() => times(20, long))).toBeGreaterThanOrEqual(19);
  });

  it('runs several short tasks in one turn', async () => {
    const turns = new LoopTurns();
    const short = () => turns.run(() => undefined);
    expect(await turnsDuring(() => times(1_000, short))).toBeLessThan(100);
  });

  it('runs tasks in the order of their requests', async () => {
    const turns = new LoopTurns();
    const order: number[] = [];
    const told = await times(5, (n) => turns.run(() => order.push(n)));
    expect([order, told]).toEqual([
      [0, 1, 2, 3, 4],
      [1, 2, 3, 4, 5],
    ]);
  });

  it('runs the next task after a failed task', async () => {
    const turns = new LoopTurns();
    const failing = turns.run(() => {
      throw new Error('No.');
    });
    await expect(failing).rejects.toThrow('No.');
    expect(await turns.run(() => 'next')).toBe('next');
  });
});
