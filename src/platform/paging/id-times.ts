import { firstIdAt } from '../ids.js';

/*
 * Ids of version 7 begin with their time in milliseconds: a bound in time is a bound of ids. The times are ISO 8601, and may
 * be finer than a millisecond.
 */

const FRACTION = /\.(\d+)/;

/** The least id that can be of a time strictly after the given one. */
export function firstIdAfter(time: string): string {
  return firstIdAt(wholeMs(time) + 1);
}

/** What is of a time strictly before the given one has an id below this one. */
export function endIdBefore(time: string): string {
  return firstIdAt(endMs(time));
}

/** The first millisecond that is not before the given time. */
export function endMs(time: string): number {
  const digits = FRACTION.exec(time)?.[1] ?? '';
  const finer = /[1-9]/.test(digits.slice(3));
  return wholeMs(time) + (finer ? 1 : 0);
}

/** The millisecond that a time is in. */
export function wholeMs(time: string): number {
  return Date.parse(time.replace(FRACTION, (fraction) => fraction.slice(0, 4)));
}
