const now = performance.now.bind(performance);
let skippedMs = 0;

/** Moves the monotonic clock of this process forward, so that what the service keeps for a time is outdated. */
export function skipTime(ms: number): void {
  skippedMs += ms;
  performance.now = () => now() + skippedMs;
}
