/** What `work` yields; throws the reason of the signal, if that comes first. Work that ignores the signal is not waited for. */
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
