import type { FieldError } from '../errors/app-error.js';
import { shownStart } from '../text.js';
import { endOfString, MAX_DEPTH } from './json-suspicion.js';

/** Enough to mend a body; a hostile one could hold a hundred thousand. */
const MOST_DEFECTS = 20;
const LONGEST_PATH = 500;

interface Level {
  /** Of an object: the keys so far; an array has none. */
  readonly keys: Set<string> | undefined;
  /** What leads from here to the value being read: a key, or an index. */
  segment: string | number;
}

/**
 * Walks through a text that JSON.parse accepts and tells, with the path of each, what JSON.parse would silently change
 * or hide: duplicate keys, NUL characters, lone surrogates, keys that reach a prototype, whole numbers that would
 * change, and nesting that is too deep.
 */
export function jsonDefects(text: string, anyKeysIn?: string): FieldError[] {
  return new Walk(text, anyKeysIn).run();
}

/** Kept as it is, or a fraction that may be rounded. */
const PLAIN_NUMBER = /^-?\d{1,15}(?:\.\d*)?$/;

/** Digits, `-`, `.`, `+`, `E` and `e`: all that a number is made of. */
function isOfNumber(char: number): boolean {
  return (
    (char >= 0x30 && char <= 0x39) ||
    char === 0x2d ||
    char === 0x2e ||
    char === 0x2b ||
    (char | 0x20) === 0x65
  );
}

class Walk {
  private readonly levels: Level[] = [];
  private readonly found: FieldError[] = [];
  private at = 0;
  private expectsKey = false;

  constructor(
    private readonly text: string,
    private readonly anyKeysIn: string | undefined,
  ) {}

  run(): FieldError[] {
    while (this.at < this.text.length && this.found.length < MOST_DEFECTS) {
      if (!this.step(this.text[this.at]!)) break;
    }
    return this.found;
  }

  /** Reads one token; false when there is no sense in going on. */
  private step(char: string): boolean {
    if (char === '{' || char === '[') return this.open(char);
    if (char === '}' || char === ']') {
      this.levels.pop();
      this.expectsKey = false;
      this.at += 1;
    } else if (char === ',') this.next();
    else if (char === '"') this.string();
    else if (char === '-' || (char >= '0' && char <= '9')) this.number();
    else this.at += 1;
    return true;
  }

  private open(char: '{' | '['): boolean {
    if (this.levels.length === MAX_DEPTH) {
      this.report('too_deep', `is nested deeper than ${MAX_DEPTH} levels`);
      return false;
    }
    const isObject = char === '{';
    this.levels.push(isObject ? { keys: new Set(), segment: '' } : { keys: undefined, segment: 0 });
    this.expectsKey = isObject;
    this.at += 1;
    return true;
  }

  private next(): void {
    const level = this.levels.at(-1);
    if (typeof level?.segment === 'number') level.segment += 1;
    this.expectsKey = level?.keys !== undefined;
    this.at += 1;
  }

  private string(): void {
    const end = endOfString(this.text, this.at);
    const raw = this.text.slice(this.at, end + 1);
    this.at = end + 1;
    const value = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
    const level = this.levels.at(-1);
    if (this.expectsKey && level?.keys) this.key(value, level, level.keys);
    else this.content(value);
  }

  private key(key: string, level: Level, keys: Set<string>): void {
    this.expectsKey = false;
    level.segment = key;
    this.content(key);
    if (keys.has(key)) this.report('duplicate_key', 'is given more than once');
    keys.add(key);
    const parent = this.levels.at(-2)?.segment;
    const isForbidden = key === '__proto__' || (key === 'prototype' && parent === 'constructor');
    if (isForbidden && !this.takesAnyKeys()) {
      this.report('forbidden_key', 'is not allowed as a key');
    }
  }

  private takesAnyKeys(): boolean {
    return this.levels.length > 1 && this.levels[0]?.segment === this.anyKeysIn;
  }

  private content(value: string): void {
    if (value.includes('\0')) this.report('nul_character', 'contains a NUL character');
    if (!value.isWellFormed()) this.report('lone_surrogate', 'contains half of a surrogate pair');
  }

  private number(): void {
    const start = this.at;
    while (isOfNumber(this.text.charCodeAt(this.at))) this.at += 1;
    const token = this.text.slice(start, this.at);
    if (PLAIN_NUMBER.test(token) || isKept(token)) return;
    this.report(
      'inexact_number',
      'is a whole number that JSON numbers do not hold exactly; send it as a string',
    );
  }

  private report(code: string, problem: string): void {
    const path = this.levels.map(({ segment }) => segment).join('.');
    const field = shownStart(path, LONGEST_PATH);
    this.found.push({ field, code, message: `${field === '' ? 'The body' : field} ${problem}.` });
  }
}

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** The largest double has 309 digits. */
const MOST_DIGITS = 309;
/** So many significant digits every double gives back as they were sent. */
const SAFE_DIGITS = 15;

interface Decimal {
  /** Without zeros at either end; empty for zero. */
  readonly significant: string;
  readonly exponent: number;
}

/**
 * Whether the number of this JSON token is the same when it is answered again. A fraction may be rounded; a whole number
 * may not, because whole numbers are ids and counts, which another value would falsify. That a double holds it is not
 * enough: 2^60 would be answered as 1152921504606847000, which a reader with larger integers takes for another number.
 */
export function isKept(token: string): boolean {
  const sent = decimalOf(token);
  if (!sent) return false;
  const { significant, exponent } = sent;
  if (significant === '') return true;
  if (significant.length + exponent > MOST_DIGITS) return false;
  if (exponent < 0) return true;
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  if (significant.length <= SAFE_DIGITS) return true;
  return isSame(sent, decimalOf(String(value)));
}

/** Whether JSON.parse and JSON.stringify give the number of this JSON token back without loss, a fraction included. */
export function isExact(token: string): boolean {
  const value = Number(token);
  return !Object.is(value, -0) && isSame(decimalOf(token), decimalOf(String(value)));
}

function isSame(one: Decimal | undefined, other: Decimal | undefined): boolean {
  if (!one || !other || one.significant !== other.significant) return false;
  return one.significant === '' || one.exponent === other.exponent;
}

function decimalOf(token: string): Decimal | undefined {
  const match = NUMBER.exec(token);
  if (!match) return undefined;
  const [, whole = '', fraction = '', power = '0'] = match;
  const { text, dropped } = withoutTrailingZeros(whole + fraction);
  return {
    significant: text.replace(/^0+/, ''),
    exponent: Number(power) - fraction.length + dropped,
  };
}

/** By hand: the pattern /0+$/ costs the square of the length on zeros that something else follows. */
function withoutTrailingZeros(text: string): { text: string; dropped: number } {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x30) end -= 1;
  return { text: text.slice(0, end), dropped: text.length - end };
}
