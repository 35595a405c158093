/** What the database said its time was, between two moments of the machine's clock; all in milliseconds since 1970. */
export interface TimeReading {
  readonly asked: number;
  readonly told: number;
  readonly answered: number;
}

interface Measured {
  /** How far the clock of the machine is ahead of that of the database. */
  readonly aheadMs: number;
  readonly wall: number;
  readonly monotonic: number;
}

/** A jump of this size means that somebody set the clock: NTP corrects it in smaller steps. */
const SET_MS = 1_000;

/** One for the process, as the machine has one clock: ids and pure functions need the time, too. */
let last: Measured | undefined;

/**
 * Milliseconds since 1970 by the clock of the database, so that replicas whose clocks differ write the same time. Until it
 * was measured, that of the machine.
 */
export function presentTime(): number {
  const wall = Date.now();
  if (!last) return wall;
  const passed = performance.now() - last.monotonic;
  // Somebody set the clock since it was measured: until the next time the monotonic one tells.
  const wasSet = Math.abs(wall - last.wall - passed) >= SET_MS;
  return Math.floor(wasSet ? last.wall + passed : wall) - last.aheadMs;
}

/**
 * Keeps what is known as long as the new measurement allows it; otherwise takes the middle. If the clocks may agree, they count
 * as agreeing.
 */
export function learnTime({ asked, told, answered }: TimeReading): void {
  // The clock of the machine shows whole milliseconds, so it is up to one later than it says.
  const [least, most] = [asked - told, answered + 1 - told];
  const fits = (aheadMs: number) => least <= aheadMs && aheadMs <= most;
  const aheadMs = [last?.aheadMs ?? 0, 0].find(fits) ?? Math.round((least + most) / 2);
  last = { aheadMs, wall: Date.now(), monotonic: performance.now() };
}

/** How far the clock of the machine is ahead of the database's; undefined when that was not measured for so long. */
export function clockAheadMs(withinMs = Infinity): number | undefined {
  if (!last || performance.now() - last.monotonic > withinMs) return undefined;
  return last.aheadMs;
}

/** The time as a dependency, so that a test can set it. Stored and shown times are in milliseconds. */
export class Clock {
  now(): Date {
    return new Date(presentTime());
  }
}
