interface TimeReading {
  readonly asked: number;
  readonly told: number;
  readonly answered: number;
}

interface Measured {
  /** Machine clock minus database clock. */
  readonly aheadMs: number;
  readonly wall: number;
  readonly monotonic: number;
}

/** A jump of this size means that somebody set the clock; NTP adjusts it in smaller steps. */
const SET_MS = 1_000;

/** One per process, like the machine clock: ids and pure functions also need the time. */
let last: Measured | undefined;

/** Milliseconds since 1970 by the clock of the database; before the first measurement, of the machine. */
export function presentTime(): number {
  const wall = Date.now();
  if (!last) return wall;
  const passed = performance.now() - last.monotonic;
  // After somebody set the clock, the monotonic clock counts until the next measurement.
  const wasSet = Math.abs(wall - last.wall - passed) >= SET_MS;
  return Math.floor(wasSet ? last.wall + passed : wall) - last.aheadMs;
}

/** Keeps the known difference while the new measurement allows it, or 0 if that fits; otherwise takes the middle. */
export function learnTime({ asked, told, answered }: TimeReading): void {
  // The machine clock shows whole milliseconds, so it may be up to 1 ms later.
  const [least, most] = [asked - told, answered + 1 - told];
  const fits = (aheadMs: number) => least <= aheadMs && aheadMs <= most;
  const aheadMs = [last?.aheadMs ?? 0, 0].find(fits) ?? Math.round((least + most) / 2);
  last = { aheadMs, wall: Date.now(), monotonic: performance.now() };
}

export function clockAheadMs(withinMs = Infinity): number | undefined {
  if (!last || performance.now() - last.monotonic > withinMs) return undefined;
  return last.aheadMs;
}

export class Clock {
  now(): Date {
    return new Date(presentTime());
  }
}
