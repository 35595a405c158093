import { asText, Duration, isNumber, Mismatch, needs, type Value } from './values.js';
import { isIsoTime } from '../../../platform/validation/fields.js';

const LONGEST_NUMBER = 40;
const WHOLE = /^[+-]?\d{1,19}$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const LEAST_INT = -(2n ** 63n);
const LARGEST_INT = 2n ** 63n - 1n;
/** The words that CEL reads as true and false. */
const TRUE = ['true', 'TRUE', 'True', 't', '1'];
const FALSE = ['false', 'FALSE', 'False', 'f', '0'];

/** A number, a text or a truth as it is written into a text. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || isNumber(value)) return String(value);
  throw needs('a text, a number, or true or false', value);
}

export const OUT_OF_RANGE = 'This number is too large for a whole number of 64 bits.';

export function isInRange(number: bigint): boolean {
  return number >= LEAST_INT && number <= LARGEST_INT;
}

export function inRange(number: bigint): bigint {
  if (isInRange(number)) return number;
  throw new Mismatch(OUT_OF_RANGE);
}

export function toInt(value: Value): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value))
    return inRange(BigInt(Math.trunc(value)));
  if (typeof value === 'string' && WHOLE.test(value)) return inRange(BigInt(value));
  throw needs('a number, or a text of digits', value);
}

export function toDouble(value: Value): number {
  if (isNumber(value)) return Number(value);
  if (typeof value === 'string' && value.length <= LONGEST_NUMBER && DECIMAL.test(value)) {
    return Number(value);
  }
  throw needs('a number, or a text of digits', value);
}

export function toTruth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && [...TRUE, ...FALSE].includes(value)) return TRUE.includes(value);
  throw needs('true or false, or such a word', value);
}

const LONGEST = 40;
const PARTS = /^(-?)((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)$/;
const PART = /(\d+(?:\.\d+)?)(ms|h|m|s)/g;
const MILLISECONDS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** The first and the last moment that CEL knows: the years 1 to 9999. */
const EARLIEST = -62_135_596_800_000;
const LATEST = 253_402_300_799_999;

/** A number counts the seconds since 1970. */
export function readTime(value: Value | undefined): Date {
  if (typeof value === 'number' || typeof value === 'bigint')
    return knownTime(Number(value) * 1_000);
  const text = asText(value);
  if (text.length > LONGEST || !isIsoTime(text)) {
    throw new Mismatch('This is no time such as 2026-01-31T09:30:00Z.');
  }
  return knownTime(Date.parse(text));
}

export function readDuration(value: Value | undefined): Duration {
  const text = asText(value);
  const [, sign, parts] = (text.length <= LONGEST && PARTS.exec(text)) || [];
  if (parts === undefined) throw new Mismatch('This is no duration such as 1h30m.');
  const sum = [...parts.matchAll(PART)].reduce(
    (total, [, number, unit]) => total + Number(number) * MILLISECONDS[unit!]!,
    0,
  );
  return new Duration(sign === '-' ? -sum : sum);
}

export function knownTime(milliseconds: number): Date {
  if (milliseconds >= EARLIEST && milliseconds <= LATEST) return new Date(milliseconds);
  throw new Mismatch('This time is out of range.');
}

export const TIME_PARTS = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
] as const;
export type TimePart = (typeof TIME_PARTS)[number];

type Read<T> = (value: T) => number;

/** As CEL counts: months and getDayOfMonth from 0, getDate from 1, days of the week from Sunday, which is 0. */
const OF_TIME: Readonly<Record<TimePart, Read<Date>>> = {
  getFullYear: (time) => time.getUTCFullYear(),
  getMonth: (time) => time.getUTCMonth(),
  getDate: (time) => time.getUTCDate(),
  getDayOfMonth: (time) => time.getUTCDate() - 1,
  getDayOfWeek: (time) => time.getUTCDay(),
  getHours: (time) => time.getUTCHours(),
  getMinutes: (time) => time.getUTCMinutes(),
  getSeconds: (time) => time.getUTCSeconds(),
  getMilliseconds: (time) => time.getUTCMilliseconds(),
};

const OF_DURATION: Readonly<Partial<Record<TimePart, Read<Duration>>>> = {
  getHours: ({ milliseconds }) => milliseconds / MILLISECONDS.h!,
  getMinutes: ({ milliseconds }) => milliseconds / MILLISECONDS.m!,
  getSeconds: ({ milliseconds }) => milliseconds / MILLISECONDS.s!,
  getMilliseconds: ({ milliseconds }) => milliseconds,
};

/** Of a time in UTC or in the named zone; of a duration, all of it in that unit. */
export function timePart(part: TimePart, value: Value, zone?: Value): bigint {
  if (value instanceof Date) {
    const local = zone === undefined ? value : inZone(value, asText(zone));
    return BigInt(OF_TIME[part](local));
  }
  const read = OF_DURATION[part];
  if (!(value instanceof Duration) || !read) throw needs('a time', value);
  return BigInt(Math.trunc(read(value)));
}

/** The time whose parts in UTC are those of `time` in the zone. */
function inZone(time: Date, zone: string): Date {
  if (zone.length > LONGEST) throw new Mismatch('There is no such time zone.');
  try {
    const shown = time.toLocaleString('en-US', { timeZone: zone, hourCycle: 'h23' });
    const local = new Date(`${shown} UTC`);
    local.setUTCMilliseconds(time.getUTCMilliseconds());
    return local;
  } catch {
    throw new Mismatch('There is no such time zone.');
  }
}
