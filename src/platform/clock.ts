interface TimeReading {
  readonly asked: number;
  readonly told: number;
  readonly answered: number;
}

interface Measured {
  /** Time of the machine clock minus time of the database clock, in ms. */
  readonly aheadMs: number;
  readonly wall: number;
  readonly monotonic: number;
}

/** A jump of at least this size means that the machine clock was set. NTP adjusts the clock in smaller steps. */
const SET_MS = 1_000;

/** The process shares the measurement, like the machine clock, because ids and pure functions need the time. */
let last: Measured | undefined;

export function presentTime(): number {
  const wall = Date.now();
  if (!last) return wall;
  const passed = performance.now() - last.monotonic;
  // If the machine clock was set, the monotonic clock is used until the next measurement.
  const wasSet = Math.abs(wall - last.wall - passed) >= SET_MS;
  return Math.floor(wasSet ? last.wall + passed : wall) - last.aheadMs;
}

/** Keeps the known difference if it fits the measurement. Otherwise uses 0 if that fits, or the middle of the range. */
export function learnTime({ asked, told, answered }: TimeReading): void {
  // The machine clock shows whole milliseconds, so the true time may be up to 1 ms later.
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
