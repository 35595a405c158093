/**
 * What `work` answers, or what `late` makes of it when there is no answer after so many milliseconds; `late` may throw.
 * Late work is not stopped: nobody hears of its answer or its error. The wait keeps no process alive.
 */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<typeof TIME_IS_UP>((resolve) => {
    timer = setTimeout(() => resolve(TIME_IS_UP), ms);
    timer.unref();
  });
  try {
    const first = await Promise.race([work, timeIsUp]);
    return first === TIME_IS_UP ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}

const TIME_IS_UP = Symbol('time is up');
