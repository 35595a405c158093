import { randomUUID } from 'node:crypto';
import { presentTime } from './clock.js';

const MOST_COUNTED = 0xfff;
let latest = -1;
let count = 0;

/** Creates a UUID of version 7, so that rows go to the end of an index. A counter orders ids of one millisecond. */
export function newId(now = presentTime()): string {
  // The counter also increases for an earlier time, because ids of other times may have been created in between.
  if (now > latest || count === MOST_COUNTED) {
    latest = now;
    count = 0;
  } else {
    count += 1;
  }
  return `${startOfId(now)}-7${count.toString(16).padStart(3, '0')}${randomUUID().slice(18)}`;
}

export function firstIdAt(time: number): string {
  return `${startOfId(Math.max(0, time))}-0000-0000-000000000000`;
}

function startOfId(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/* Ids begin with their time, so a limit of time is a limit of ids. ISO 8601 times may be finer than 1 ms. */

const FRACTION = /\.(\d+)/;

export function firstIdAfter(time: string): string {
  return firstIdAt(wholeMs(time) + 1);
}

/** Returns an id that is greater than all ids of times before `time`. */
export function endIdBefore(time: string): string {
  return firstIdAt(endMs(time));
}

export function endMs(time: string): number {
  const digits = FRACTION.exec(time)?.[1] ?? '';
  const finer = /[1-9]/.test(digits.slice(3));
  return wholeMs(time) + (finer ? 1 : 0);
}

export function wholeMs(time: string): number {
  return Date.parse(time.replace(FRACTION, (fraction) => fraction.slice(0, 4)));
}
