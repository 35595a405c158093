/**
 * Limit for work on a mebibyte, in units of `cost`. Linear work costs at most a hundred units. Work that grows with the
 * square of the length costs thousands.
 */
export const LINEAR = 400;

/**
 * Measures the processor time of `work(length)` in units of a fixed computation of this run, so that the speed of the
 * machine cancels out. A unit is about 5 ms on a fast machine.
 */
export async function cost(work: (length: number) => unknown, length: number): Promise<number> {
  const unit = await leastTime(computation);
  const first = (await timeOf(() => work(length))) / unit;
  return first < LINEAR ? first : (await leastTime(() => work(length))) / unit;
}

async function leastTime(work: () => unknown): Promise<number> {
  return Math.min(await timeOf(work), await timeOf(work), await timeOf(work));
}

async function timeOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

function computation(): number {
  let hash = 0;
  for (let at = 0; at < 5_000_000; at += 1) hash = (hash * 31 + at) | 0;
  return hash;
}
