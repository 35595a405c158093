/** If `work` takes longer than `ms`, returns the result of `late`, which may throw. Does not stop `work`. */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<typeof TIME_IS_UP>();
  const timer = setTimeout(resolve, ms, TIME_IS_UP).unref();
  try {
    const first = await Promise.race([work, promise]);
    return first === TIME_IS_UP ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}

const TIME_IS_UP = Symbol('time is up');

/** If the signal aborts first, throws the reason of the signal and does not wait for `work`. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const over = Promise.withResolvers<never>();
  const end = () => over.reject(signal.reason as Error);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** The signal for `work` aborts with `signal` or after `ms`. AbortSignal.timeout would stay in memory. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal,
  work: (over: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const abort = () => over.abort(signal.reason);
  const timer = setTimeout(() => over.abort(new Error(`Timed out after ${ms} ms.`)), ms);
  timer.unref();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
