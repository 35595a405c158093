import { hasFormat } from '../../action-catalogue/parameters.js';
import { LONGEST_TITLE, titleLine } from '../../incidents/raw-data-text.js';
import { isIsoTime } from '../../platform/validation/fields.js';
import { MOST_ITEMS } from '../playbook.js';
import {
  asIndex,
  asText,
  type Budget,
  Duration,
  inRange,
  isList,
  isMembers,
  isNumber,
  knownTime,
  Mismatch,
  needs,
  type Value,
} from './values.js';

/** Each operation charges its cost before it runs. The first operand of a method is its receiver. */
type Operation = (budget: Budget, first: Value, second?: Value, third?: Value) => Value;
/** Keeps the text of a placeholder unchanged in texts for people. */
export const RAW = 'raw';

/** Functions of one operand. `has` is a part of the interpreter. */
export const FUNCTIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['size', size],
  ['dyn', (_, value) => value],
  ['string', (_, value) => textOf(value)],
  ['int', (_, value) => toInt(value)],
  ['double', (_, value) => toDouble(value)],
  ['bool', (_, value) => toTruth(value)],
  ['timestamp', (_, value) => readTime(value)],
  ['duration', (_, value) => readDuration(value)],
  [RAW, (_, value) => textOf(value)],
  ['isIP', (_, value) => hasFormat('ip', asText(value))],
  ['oneLine', oneLine],
]);

const HOUR_MS = 3_600_000;

/**
 * Parts of a time in UTC, and the milliseconds of the part if a duration can be read in it. CEL counts months and getDayOfMonth
 * from 0, getDate from 1, and days of the week from Sunday = 0.
 */
const TIME_PARTS: Readonly<Record<string, readonly [(time: Date) => number, number?]>> = {
  getFullYear: [(time) => time.getUTCFullYear()],
  getMonth: [(time) => time.getUTCMonth()],
  getDate: [(time) => time.getUTCDate()],
  getDayOfMonth: [(time) => time.getUTCDate() - 1],
  getDayOfWeek: [(time) => time.getUTCDay()],
  getHours: [(time) => time.getUTCHours(), HOUR_MS],
  getMinutes: [(time) => time.getUTCMinutes(), 60_000],
  getSeconds: [(time) => time.getUTCSeconds(), 1_000],
  getMilliseconds: [(time) => time.getUTCMilliseconds(), 1],
};

/** A method with its maximum number of arguments. */
type Method = readonly [Operation, number];

export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['size', [size, 0]],
  ['contains', [search((text, wanted) => text.includes(wanted)), 1]],
  ['indexOf', [search((text, wanted) => BigInt(text.indexOf(wanted))), 1]],
  ['lastIndexOf', [search((text, wanted) => BigInt(text.lastIndexOf(wanted))), 1]],
  ['startsWith', [atEnd((text, wanted) => text.startsWith(wanted)), 1]],
  ['endsWith', [atEnd((text, wanted) => text.endsWith(wanted)), 1]],
  ['lowerAscii', [change(inAscii((letters) => letters.toLowerCase())), 0]],
  ['upperAscii', [change(inAscii((letters) => letters.toUpperCase())), 0]],
  ['trim', [change((text) => text.trim()), 0]],
  ['substring', [substring, 2]],
  ['split', [split, 1]],
  ['join', [join, 1]],
  ...Object.keys(TIME_PARTS).map((part) => [part, [timePart(part), 1]] as const),
]);

/** Signatures of functions that the library does not know, for the type check. */
export const DECLARATIONS: readonly string[] = [
  `${RAW}(dyn): string`,
  'isIP(dyn): bool',
  'oneLine(dyn): string',
];

/** Returns a number, text or boolean as text. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || isNumber(value)) return String(value);
  throw needs('a text, a number, or true or false', value);
}

const LONGEST_NUMBER = 40;
const WHOLE = /^[+-]?\d{1,19}$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

function toInt(value: Value): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) {
    return inRange(BigInt(Math.trunc(value)));
  }
  if (typeof value === 'string' && WHOLE.test(value)) return inRange(BigInt(value));
  throw needs('a number, or a text of digits', value);
}

function toDouble(value: Value): number {
  if (isNumber(value)) return Number(value);
  if (typeof value === 'string' && value.length <= LONGEST_NUMBER && DECIMAL.test(value)) {
    return Number(value);
  }
  throw needs('a number, or a text of digits', value);
}

/** Words that CEL parses as true and false. */
const TRUE: readonly Value[] = [true, 'true', 'TRUE', 'True', 't', '1'];
const FALSE: readonly Value[] = [false, 'false', 'FALSE', 'False', 'f', '0'];

function toTruth(value: Value): boolean {
  if (TRUE.includes(value) || FALSE.includes(value)) return TRUE.includes(value);
  throw needs('true or false, or such a word', value);
}

const LONGEST_TIME = 40;
const PARTS = /^(-?)((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)$/;
const PART = /(\d+(?:\.\d+)?)(ms|h|m|s)/g;
const MILLISECONDS: Readonly<Record<string, number>> = { h: HOUR_MS, m: 60_000, s: 1_000, ms: 1 };

/** A number is in seconds since 1970. */
function readTime(value: Value): Date {
  if (isNumber(value)) return knownTime(Number(value) * 1_000);
  const text = asText(value);
  if (text.length > LONGEST_TIME || !isIsoTime(text)) {
    throw new Mismatch('This is no time such as 2026-01-31T09:30:00Z.');
  }
  return knownTime(Date.parse(text));
}

function readDuration(value: Value): Duration {
  const text = asText(value);
  const [, sign, parts] = (text.length <= LONGEST_TIME && PARTS.exec(text)) || [];
  if (parts === undefined) throw new Mismatch('This is no duration such as 1h30m.');
  const sum = [...parts.matchAll(PART)].reduce(
    (total, [, number, unit]) => total + Number(number) * MILLISECONDS[unit!]!,
    0,
  );
  return new Duration(sign === '-' ? -sum : sum);
}

/** Cost of the lookup of a time zone, in nodes of an expression. */
const COST_OF_ZONE = 3_000;

/** Reads the part of a time in UTC or in the named zone, or the whole duration in that unit. */
function timePart(part: string): Operation {
  const [read, unit] = TIME_PARTS[part]!;
  return (budget, value, zone) => {
    if (zone !== undefined) budget.spend(COST_OF_ZONE);
    if (value instanceof Date) {
      return BigInt(
        read(zone === undefined ? value : inZone(value, asText(zone).slice(0, LONGEST_TIME))),
      );
    }
    if (!(value instanceof Duration) || !unit) throw needs('a time', value);
    return BigInt(Math.trunc(value.milliseconds / unit));
  };
}

/** Returns a time whose UTC parts are the local parts of `time` in the zone. */
function inZone(time: Date, zone: string): Date {
  try {
    const shown = time.toLocaleString('en-US', { timeZone: zone, hourCycle: 'h23' });
    const local = new Date(`${shown} UTC`);
    local.setUTCMilliseconds(time.getUTCMilliseconds());
    return local;
  } catch {
    throw new Mismatch('There is no such time zone.');
  }
}

/** Cuts to the maximum length of a title. Without line breaks, external text cannot imitate another line of a ticket. */
function oneLine(budget: Budget, value: Value): string {
  const text = textOf(value);
  budget.make(Math.min(text.length, LONGEST_TITLE));
  return titleLine(text) ?? '';
}

function size(budget: Budget, value: Value): bigint {
  if (typeof value === 'string') return charactersIn(value, budget);
  if (isList(value)) return BigInt(value.length);
  if (!isMembers(value)) throw needs('a text, a list or an object', value);
  return BigInt(budget.keys(value).length);
}

/** Characters that are counted in the time of one node. */
const CHARACTERS_COUNTED = 16;
const SURROGATE_PAIRS = /[\ud800-\udbff][\udc00-\udfff]/g;
/** Characters that are looked up in the Unicode tables in the time of one node. */
const CHARACTERS_LOOKED_UP = 4;
const ASCII = /^[\0-\x7f]*$/;
const ASCII_PARTS = /[\0-\x7f]+/g;

function inAscii(work: (text: string) => string): (text: string) => string {
  return (text) => text.replace(ASCII_PARTS, work);
}

function change(work: (text: string) => string): Operation {
  return (budget, value) => {
    const text = asText(value);
    budget.make(text.length);
    if (!ASCII.test(text)) budget.spend(text.length / CHARACTERS_LOOKED_UP);
    return work(text);
  };
}

function search(look: (text: string, wanted: string) => Value): Operation {
  return (budget, value, what) => {
    const [text, wanted] = [asText(value), asText(what)];
    budget.search(text, wanted);
    return look(text, wanted);
  };
}

function atEnd(look: (text: string, wanted: string) => boolean): Operation {
  return (budget, value, what) => {
    const [text, wanted] = [asText(value), asText(what)];
    budget.read(wanted.length);
    return look(text, wanted);
  };
}

function substring(budget: Budget, value: Value, from?: Value, to?: Value): string {
  const text = asText(value);
  const start = asIndex(from);
  const end = to === undefined ? text.length : asIndex(to);
  if (start < 0 || end < start || end > text.length) {
    throw new Mismatch('This part is not within the text.');
  }
  budget.make(end - start);
  return text.slice(start, end);
}

function split(budget: Budget, value: Value, by?: Value): string[] {
  const [text, separator] = [asText(value), asText(by)];
  budget.search(text, separator);
  budget.make(text.length);
  const parts = text.split(separator, MOST_ITEMS + 1);
  budget.items(parts.length);
  return parts;
}

function join(budget: Budget, value: Value, by: Value = ''): string {
  if (!isList(value)) throw needs('a list', value);
  const separator = asText(by);
  budget.items(value.length);
  const texts = value.map(asText);
  budget.make(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
  return texts.join(separator);
}

function charactersIn(text: string, budget: Budget): bigint {
  budget.spend(text.length / CHARACTERS_COUNTED);
  return BigInt(text.length - (text.match(SURROGATE_PAIRS)?.length ?? 0));
}
