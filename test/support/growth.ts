const TRIES = 4;

/**
 * Measures how often more processor time `work` takes for input of eight times the length: about 8 if the time grows with the
 * length, 64 if it grows with the square. Both times come from the same run, so the speed of the machine cancels out.
 */
export async function growth(work: (length: number) => unknown, length: number): Promise<number> {
  const [short, long] = [Math.floor(length / 8), length];
  await work(short);
  const shortTime = await leastTime(() => work(short));
  return (await leastTime(() => work(long))) / Math.max(shortTime, 200);
}

/** Highest growth of linear work. Garbage collection and caches make long input up to three times as costly. */
export const LINEAR = 30;

async function leastTime(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}
