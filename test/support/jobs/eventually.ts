import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the condition holds, and fails with the last thing seen when it does not in time. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  isGood: (seen: T) => boolean,
  patienceMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (isGood(seen)) return seen;
    if (Date.now() > deadline) {
      throw new Error(`Not within ${patienceMs} ms; last seen: ${JSON.stringify(seen)}`);
    }
    await sleep(10);
  }
}
