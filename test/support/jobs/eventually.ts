import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats a look until the condition holds for its result. Without a condition it waits for a truthy value. */
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
