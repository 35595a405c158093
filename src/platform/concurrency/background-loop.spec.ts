import { setTimeout as sleep } from 'node:timers/promises';
import { RecordedSpans } from '../../../test/support/traces/recorded-spans.js';
import { beginSpan, inSpan, presentSpan } from '../tracing/tracing.js';
import { BackgroundLoop, type LoopOptions } from './background-loop.js';

const warn = jest.fn<void, [string]>();
const error = jest.fn<void, [{ err: Error }, string]>();
const log = { warn, error } as unknown as LoopOptions['log'];

beforeEach(() => jest.clearAllMocks());

describe('a background loop', () => {
  it('runs at the start, after each pause and when woken, without overlap', async () => {
    let runs = 0;
    let atOnce = 0;
    let most = 0;
    const loop = new BackgroundLoop({ task: 'Looking', log, pauseMs: 30 }, async () => {
      most = Math.max(most, (atOnce += 1));
      await sleep(5);
      atOnce -= 1;
      runs += 1;
    });
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

  it('works outside the trace of the request that wakes it', async () => {
    const spans = RecordedSpans.begin();
    const seen: unknown[] = [];
    const loop = new BackgroundLoop({ task: 'Looking', log, pauseMs: 5 }, async () => {
      seen.push(presentSpan() ?? 'no trace');
    });
    inSpan(beginSpan({ name: 'request', kind: 'server' }), () => loop.start());
    while (seen.length < 3) await sleep(5);
    await loop.stop();
    spans.end();

    expect(new Set(seen)).toEqual(new Set(['no trace']));
  });

  it('runs once at the same time and stops when it was started twice', async () => {
    let runs = 0;
    const loop = new BackgroundLoop({ task: 'Looking', log, pauseMs: 60_000 }, async () => {
      runs += 1;
    });
    loop.start();
    loop.start();
    await loop.stop();
    expect(runs).toBe(1);

    loop.start();
    await loop.stop();
    expect(runs).toBe(2);
  });

  it('runs again when it is woken during a run', async () => {
    let runs = 0;
    const options = { task: 'Looking', log, pauseMs: 60_000 };
    const loop: BackgroundLoop = new BackgroundLoop(options, async () => {
      runs += 1;
      if (runs === 1) loop.wake();
    });
    loop.start();
    await sleep(5);
    await loop.stop();

    expect(runs).toBe(2);
  });

  it('pauses after a call even if it is woken, and stops during the pause', async () => {
    const order: string[] = [];
    const options = { task: 'Looking', log, pauseMs: 60_000, restMs: 400 };
    const loop = new BackgroundLoop(options, async () => order.push('run'));
    loop.start();
    setTimeout(() => order.push('300 ms'), 300);
    for (let n = 0; n < 10; n += 1) {
      await sleep(2);
      loop.wake();
    }
    while (order.length < 3) await sleep(5);
    await loop.stop();

    expect(order).toEqual(['run', '300 ms', 'run']);
  });

  it('stops without waiting for the end of its pause', async () => {
    const options = { task: 'Looking', log, pauseMs: 600_000, restMs: 600_000 };
    const loop = new BackgroundLoop(options, async () => undefined);
    loop.start();
    await sleep(5);
    await loop.stop();
  });

  it('rests after a long call for as long as the call took', async () => {
    const order: string[] = [];
    const options = { task: 'Looking', log, pauseMs: 60_000, restMs: 1 };
    const loop = new BackgroundLoop(options, async () => {
      order.push('run');
      await sleep(60);
      if (order.length === 1) setTimeout(() => order.push('40 ms'), 40);
      loop.wake();
    });
    loop.start();
    while (order.length < 3) await sleep(5);
    await loop.stop();

    expect(order.slice(0, 3)).toEqual(['run', '40 ms', 'run']);
  });

  it('runs again soon when it is woken during a run that fails', async () => {
    let runs = 0;
    const loop: BackgroundLoop = new BackgroundLoop(
      { task: 'Looking', log, pauseMs: 60_000 },
      async () => {
        runs += 1;
        if (runs > 1) return;
        await sleep(1);
        loop.wake();
        throw new Error('The first run fails.');
      },
    );
    loop.start();
    while (runs < 2) await sleep(5);
    await loop.stop();
  });

  it('continues after an error and logs the first error of a series', async () => {
    let runs = 0;
    const loop = new BackgroundLoop({ task: 'Looking', log, pauseMs: 5 }, async () => {
      runs += 1;
      if (runs < 4 || runs === 6) throw new Error(`Run ${runs}`);
    });
    loop.start();
    while (runs < 7) await sleep(5);
    await loop.stop();

    expect(error.mock.calls.map(([{ err }, words]) => [err.message, words])).toEqual([
      ['Run 1', 'Looking failed.'],
      ['Run 6', 'Looking failed.'],
    ]);
    expect(warn).not.toHaveBeenCalled();
  });

  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  it('logs once that the database is unreachable, and logs the next error with another cause', async () => {
    let runs = 0;
    const loop = new BackgroundLoop({ task: 'Looking', log, pauseMs: 5 }, async () => {
      runs += 1;
      throw runs < 3 ? away : new Error(`Run ${runs}`);
    });
    loop.start();
    while (runs < 5) await sleep(5);
    await loop.stop();

    expect(warn.mock.calls).toEqual([['Looking waits for the database: connect ECONNREFUSED']]);
    expect(error.mock.calls.map(([{ err }]) => err.message)).toEqual(['Run 3']);
  });
});
