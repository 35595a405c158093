import { createSecretKey, type KeyObject } from 'node:crypto';

/** How one environment variable becomes a typed value. `read` throws an Error whose message says what is expected. */
export interface Parser<T> {
  readonly read: (text: string) => T;
  /** The value when the variable is unset or empty; `undefined` for an optional one. */
  readonly fallback: T;
  /** Shown in `.env.example`. */
  readonly example: string;
}

export interface DeclaredSetting {
  readonly property: string;
  readonly variable: string;
  readonly section: string;
  readonly description: string;
  readonly parser: Parser<unknown>;
}

const declared: DeclaredSetting[] = [];

export function declaredSettings(): readonly DeclaredSetting[] {
  return declared;
}

/**
 * Declares a property of Settings as the environment variable of the same name (`databaseUrl` is `DATABASE_URL`).
 * The compiler holds the property's type equal to what its parser yields.
 */
export function Setting<T>(section: string, description: string, parser: Parser<T>) {
  return <K extends string>(_target: Record<K, T>, property: K): void => {
    const variable = property.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    declared.push({ property, variable, section, description, parser });
  };
}

export function text(fallback: string): Parser<string> {
  return { fallback, example: fallback, read: (value) => value };
}

export function optionalText(example = '', check?: { pattern: RegExp; hint: string }) {
  const parser: Parser<string | undefined> = {
    fallback: undefined,
    example,
    read: (value) => {
      if (check && !check.pattern.test(value)) throw new Error(`must be ${check.hint}`);
      return value;
    },
  };
  return parser;
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

/** Only these words: a typo must not silently mean false. */
export function flag(fallback: boolean): Parser<boolean> {
  return {
    fallback,
    example: String(fallback),
    read: (value) => {
      const on = { true: true, on: true, false: false, off: false }[value];
      if (on === undefined) throw new Error('must be true or false, or on or off');
      return on;
    },
  };
}

export function oneOf<const T extends string>(values: readonly T[], fallback: T): Parser<T> {
  return {
    fallback,
    example: fallback,
    read: (value) => {
      const match = values.find((candidate) => candidate === value);
      if (match === undefined) throw new Error(`must be one of ${values.join(', ')}`);
      return match;
    },
  };
}

/** A comma separated list; every part is checked on its own. */
export function list<T>(readPart: (part: string) => T, example = ''): Parser<readonly T[]> {
  return {
    fallback: [],
    example,
    read: (value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .map(readPart),
  };
}

const KEY_BYTES = 32;

/**
 * A key as the operator writes it. It becomes a KeyObject at once, which neither util.inspect nor JSON.stringify shows,
 * and the error never repeats what was given.
 */
export function readSecretKey(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text) {
    throw new Error(`must be keys of ${KEY_BYTES} bytes in base64, comma separated`);
  }
  return createSecretKey(bytes);
}
