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

/** Minimum jump that shows that the machine clock was set. NTP adjusts the clock in smaller steps. */
const SET_MS = 1_000;

/** Shared by the whole process, like the machine clock, because ids and pure functions also need the time. */
let last: Measured | undefined;

/** Returns the Unix time in ms of the database clock, or of the machine clock before the first measurement. */
export function presentTime(): number {
  const wall = Date.now();
  if (!last) return wall;
  const passed = performance.now() - last.monotonic;
  // If the machine clock was set, the monotonic clock is used until the next measurement.
  const wasSet = Math.abs(wall - last.wall - passed) >= SET_MS;
  return Math.floor(wasSet ? last.wall + passed : wall) - last.aheadMs;
}

/** Keeps the known difference if the measurement allows it, else 0 if allowed, else the middle of the allowed range. */
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
