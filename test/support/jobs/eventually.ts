import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats `look` until its result satisfies the condition. Default condition: the result is truthy. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  isGood: (seen: T) => boolean = Boolean,
  patienceMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (isGood(seen)) return seen;
    if (Date.now() > deadline) {
      throw new Error(
        `Not within ${patienceMs} ms: ${String(look)}. Last seen: ${JSON.stringify(seen)}`,
      );
    }
    await sleep(10);
  }
}
