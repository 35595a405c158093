import { createSecretKey, type KeyObject } from 'node:crypto';

/** Parses one environment variable. `read` throws an Error whose message states the expected format. */
export interface Parser<T> {
  readonly read: (text: string) => T;
  /** Value if the variable is unset or empty; `undefined` for an optional variable. */
  readonly fallback: T;
  readonly example: string;
  /** Rejects a value that has only spaces. By default, such a value counts as unset. */
  readonly refusesBlank?: boolean;
}

interface TextForm {
  readonly pattern: RegExp;
  /** Completes the message "must be …". */
  readonly hint: string;
}

export function text(fallback: string, form?: TextForm): Parser<string> {
  return { fallback, example: fallback, read: (value) => requireForm(value, form) };
}

export function optionalText(form?: TextForm): Parser<string | undefined> {
  return { fallback: undefined, example: '', read: (value) => requireForm(value, form) };
}

function requireForm(value: string, form: TextForm | undefined): string {
  if (form && !form.pattern.test(value)) throw new Error(`must be ${form.hint}`);
  return value;
}

export function integer(fallback: number, min: number, max: number): Parser<number> {
  return {
    fallback,
    example: String(fallback),
    read: (value) => {
      const number = Number(value);
      if (!/^-?\d+$/.test(value) || number < min || number > max) {
        throw new Error(`must be a whole number from ${min} to ${max}`);
      }
      return number;
    },
  };
}

/** Rejects other words, so that a typo does not count as false. */
export function flag(fallback: boolean): Parser<boolean> {
  return {
    fallback,
    example: String(fallback),
    read: (value) => {
      const on = { true: true, on: true, false: false, off: false }[value];
      if (on === undefined) throw new Error('must be true, false, on or off');
      return on;
    },
  };
}

export function oneOf<const T extends string>(values: readonly T[], fallback: T): Parser<T>;
export function oneOf<const T extends string>(values: readonly T[]): Parser<T | undefined>;
export function oneOf<const T extends string>(values: readonly T[], fallback?: T) {
  return {
    fallback,
    example: fallback ?? '',
    read: (value: string): T => {
      const match = values.find((candidate) => candidate === value);
      if (match === undefined) throw new Error(`must be one of ${values.join(', ')}`);
      return match;
    },
  };
}

export function list<T>(readPart: (part: string) => T): Parser<readonly T[]> {
  return {
    fallback: [],
    example: '',
    read: (value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .map(readPart),
  };
}

const KEY_BYTES = 32;

/** Parses a key into a KeyObject, which util.inspect and JSON.stringify do not show. The error omits the value. */
export function readSecretKey(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text) {
    throw new Error(`must be comma-separated base64 keys of ${KEY_BYTES} bytes each`);
  }
  return createSecretKey(bytes);
}
