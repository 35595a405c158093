import { getEventListeners } from 'node:events';
import { within, withDeadline } from './within.js';

const never = new Promise<string>(() => undefined);

describe('within', () => {
  it('returns the result of work that ends in time', async () => {
    expect(await within(60_000, Promise.resolve('answer'), () => 'late')).toBe('answer');
  });

  it('throws the error of work that fails in time', async () => {
    const failing = Promise.reject(new Error('It failed.'));
    await expect(within(60_000, failing, () => 'late')).rejects.toThrow('It failed.');
  });

  it('returns the result of the callback `late` if the time is over', async () => {
    expect(await within(1, never, () => 'late')).toBe('late');
  });

  it('throws the error of the callback `late`', async () => {
    const late = () => {
      throw new Error('Too late.');
    };
    await expect(within(1, never, late)).rejects.toThrow('Too late.');
  });

  it('ignores an error of the work after the time is over', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    expect(await within(1, promise, () => 'late')).toBe('late');
    reject(new Error('Nobody hears of it.'));
  });

  it('clears its timer', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await within(60_000, Promise.resolve(), () => undefined);
    const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    expect(after).toBe(before);
  });
});

describe('withDeadline', () => {
  const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;
  const untilOver = (over: AbortSignal) =>
    new Promise<never>((_, reject) => {
      over.addEventListener('abort', () => reject(over.reason as Error));
    });

  it('aborts the work when the time is over, or when the given signal is aborted', async () => {
    const { signal } = new AbortController();
    await expect(withDeadline(5, signal, untilOver)).rejects.toThrow('Timed out after 5 ms.');
    const stopping = new AbortController();
    const stopped = withDeadline(60_000, stopping.signal, untilOver);
    stopping.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    const late = withDeadline(60_000, stopping.signal, async (over) => over.aborted);
    await expect(late).resolves.toBe(true);
  });

  it('removes its listener from the given signal', async () => {
    const { signal } = new AbortController();
    const during = await withDeadline(60_000, signal, async () => listenersOf(signal));
    expect([during, listenersOf(signal)]).toEqual([1, 0]);
  });
});
