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

/** So many of them, chosen by the seed, in their old order. */
export function sampleOf<T>(all: readonly T[], size: number, seed: number): T[] {
  if (size >= all.length) return [...all];
  const random = randomOf(seed);
  const places = all.map((_, index) => index);
  for (let index = 0; index < size; index += 1) {
    const other = index + Math.floor(random() * (places.length - index));
    [places[index], places[other]] = [places[other]!, places[index]!];
  }
  return places
    .slice(0, size)
    .sort((a, b) => a - b)
    .map((index) => all[index]!);
}
