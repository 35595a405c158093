import { randomFillSync } from 'node:crypto';
import { presentTime } from './clock.js';

const POOL_BYTES = 4096;
const ID_BYTES = 16;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;

const MOST_COUNTED = 0xfff;
let latest = -1;
let count = 0;

/** Creates a UUID of version 7, ordered by time, so that rows go to the end of an index. A counter orders ids of one ms. */
export function newId(now = presentTime()): string {
  // Also counts for an earlier time, because ids with other times may have been created in between.
  if (now > latest || count === MOST_COUNTED) {
    latest = now;
    count = 0;
  } else {
    count += 1;
  }
  if (used === POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = pool.subarray(used, used + ID_BYTES);
  used += ID_BYTES;
  bytes.writeUIntBE(now, 0, 6);
  bytes.writeUInt16BE(0x7000 | count, 6);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/* Converts time bounds to id bounds, because ids begin with their time. Times are ISO 8601, maybe finer than 1 ms. */

const FRACTION = /\.(\d+)/;

export function firstIdAfter(time: string): string {
  return firstIdAt(wholeMs(time) + 1);
}

/** Returns an id above all ids with a time before `time`. */
export function endIdBefore(time: string): string {
  return firstIdAt(endMs(time));
}

/** Returns the first millisecond at or after the time. */
export function endMs(time: string): number {
  const digits = FRACTION.exec(time)?.[1] ?? '';
  const finer = /[1-9]/.test(digits.slice(3));
  return wholeMs(time) + (finer ? 1 : 0);
}

export function wholeMs(time: string): number {
  return Date.parse(time.replace(FRACTION, (fraction) => fraction.slice(0, 4)));
}
