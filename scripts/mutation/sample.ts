/** The same numbers for the same seed (mulberry32), each from 0 to 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** So many of them, chosen by the seed and in its order, so that the first of a sample are a smaller sample. */
export function sampleOf<T>(all: readonly T[], size: number, seed: number): T[] {
  const random = randomOf(seed);
  const shuffled = [...all];
  for (let index = 0; index < shuffled.length; index += 1) {
    const other = index + Math.floor(random() * (shuffled.length - index));
    [shuffled[index], shuffled[other]] = [shuffled[other]!, shuffled[index]!];
  }
  return shuffled.slice(0, size);
}
