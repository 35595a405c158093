import { randomFillSync } from 'node:crypto';
import { presentTime } from './clock.js';

const POOL_BYTES = 4096;
const ID_BYTES = 16;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;

/** As far as an id counts within its millisecond. */
const MOST_COUNTED = 0xfff;
let latest = -1;
let count = 0;

/**
 * A UUID of version 7: ordered by time, so that a new row goes to the end of its index instead of to a random page of it.
 * The ids that one process makes within a millisecond are counted up, so that rows of one moment have an order, too.
 */
export function newId(now = presentTime()): string {
  // A time before the latest is counted on as well: somebody else's id may have come between two of the same moment.
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

/** The least id that begins with the given millisecond. */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The millisecond that an id of version 7 begins with. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}
