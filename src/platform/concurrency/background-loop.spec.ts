import { setTimeout as sleep } from 'node:timers/promises';
import { BackgroundLoop } from './background-loop.js';

describe('a background loop', () => {
  it('runs at the start, after each pause and when woken, never twice at a time', async () => {
    let runs = 0;
    let atOnce = 0;
    let most = 0;
    const loop = new BackgroundLoop(
      30,
      async () => {
        most = Math.max(most, (atOnce += 1));
        await sleep(5);
        atOnce -= 1;
        runs += 1;
      },
      () => undefined,
    );
    loop.wake();
    expect(runs).toBe(0);
    loop.start();
    for (let n = 0; n < 20; n += 1) {
      loop.wake();
      await sleep(1);
    }
    await sleep(150);
    await loop.stop();
    const ended = runs;
    loop.wake();
    await sleep(60);

    expect(most).toBe(1);
    expect(ended).toBeGreaterThanOrEqual(5);
    expect(runs).toBe(ended);
  });

  it('looks again when it is woken during a look', async () => {
    let runs = 0;
    const loop: BackgroundLoop = new BackgroundLoop(
      60_000,
      async () => {
        runs += 1;
        if (runs === 1) loop.wake();
      },
      () => undefined,
    );
    loop.start();
    await sleep(5);
    await loop.stop();

    expect(runs).toBe(2);
  });

  it('rests after a call, however often it is woken, and stops at once in its rest', async () => {
    const restMs = 400;
    const times: number[] = [];
    const loop = new BackgroundLoop(
      60_000,
      () => Promise.resolve(void times.push(performance.now())),
      () => undefined,
      restMs,
    );
    loop.start();
    for (let n = 0; n < 10; n += 1) {
      await sleep(2);
      loop.wake();
    }
    while (times.length < 2) await sleep(5);
    const stopping = performance.now();
    await loop.stop();

    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(restMs - 5);
    expect(times).toHaveLength(2);
    expect(performance.now() - stopping).toBeLessThan(restMs / 2);
  });

  it('goes on after an error, and tells the first of a series', async () => {
    const told: unknown[] = [];
    let runs = 0;
    const loop = new BackgroundLoop(
      5,
      async () => {
        runs += 1;
        if (runs < 4 || runs === 6) throw new Error(`Run ${runs}`);
      },
      (error) => told.push((error as Error).message),
    );
    loop.start();
    await sleep(150);
    await loop.stop();

    expect(runs).toBeGreaterThan(6);
    expect(told).toEqual(['Run 1', 'Run 6']);
  });
});
