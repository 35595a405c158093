import { LoopTurns } from './loop-turns.js';

/** Counts how often the event loop comes by while the work is done. */
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

function busyFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe('turns of the event loop', () => {
  it('are given back between pieces of work that are long, however many ask at once', async () => {
    const turns = new LoopTurns();
    const long = () => turns.run(() => busyFor(6));
    expect(await turnsDuring(() => times(20, long))).toBeGreaterThanOrEqual(19);
  });

  it('are shared by pieces that are short', async () => {
    const turns = new LoopTurns();
    const short = () => turns.run(() => undefined);
    expect(await turnsDuring(() => times(1_000, short))).toBeLessThan(100);
  });

  it('are had in the order of asking', async () => {
    const turns = new LoopTurns();
    const order: number[] = [];
    const told = await times(5, (n) => turns.run(() => order.push(n)));
    expect([order, told]).toEqual([
      [0, 1, 2, 3, 4],
      [1, 2, 3, 4, 5],
    ]);
  });

  it('are had by the next one after work that fails', async () => {
    const turns = new LoopTurns();
    const failing = turns.run(() => {
      throw new Error('No.');
    });
    await expect(failing).rejects.toThrow('No.');
    expect(await turns.run(() => 'next')).toBe('next');
  });
});
