/** Numbers from 0 to 1 that depend only on the seed (mulberry32). */
export function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same seed gives the same numbers, so that a failure can be repeated. */
export class Random {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = chances(seed);
  }

  /** Integer from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }
}
