import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean } from 'class-validator';
import { Field, type FieldOptions, integer, Rule } from './fields.js';

/* Kinds of fields for query strings, in which every value is text. */

interface RangeOptions extends FieldOptions {
  readonly min: number;
  readonly max: number;
}

/** A whole number of digits only: `1e3`, `0x10` and ` 1` are rejected. */
export const QueryInteger = ({ min, max, ...options }: RangeOptions) =>
  Field(
    options,
    integer(min, max),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    Rule(
      'isInt',
      (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
      (property) => `${property} must be a whole number from ${min} to ${max}`,
    ),
  );

export const QueryFlag = (options: FieldOptions = {}) =>
  Field(
    options,
    { type: 'boolean' },
    Transform(({ value }: { value: unknown }) =>
      value === 'false' ? false : value === 'true' || value,
    ),
    IsBoolean(),
  );

/** Lower bound of the maximum list length. A list may contain all known words, and words may repeat. */
const MOST_WORDS = 20;

const MANY_VALUES = Symbol('many values');

export function takesManyValues(query: new () => object, name: string): boolean {
  return Reflect.getMetadata(MANY_VALUES, query.prototype as object, name) === true;
}

/**
 * Words of a set that a response field declares with `Choice(name, known)`. Several are separated by commas, or the
 * parameter is repeated.
 */
export const Words = (name: string, known: readonly string[], options: FieldOptions = {}) =>
  WordChoice(
    { $ref: `#/components/schemas/${name}` },
    { fits: (word) => known.includes(word), what: `one of ${known.join(', ')}` },
    { description: 'One of these words, or several separated by commas.', ...options },
    Math.max(MOST_WORDS, known.length),
  );

/** Like `Words`, for words that match a pattern. `what` describes the pattern in messages. */
export const WordList = (
  { word, what }: { readonly word: RegExp; readonly what: string },
  options: FieldOptions = {},
) =>
  WordChoice(
    { type: 'string', pattern: word.source },
    { fits: (text) => word.test(text), what },
    options,
    MOST_WORDS,
  );

interface WordRule {
  readonly fits: (word: string) => boolean;
  /** Describes the rule in messages. */
  readonly what: string;
  /** The subject of a word, if each subject may occur only once. */
  readonly subject?: (word: string) => string;
}

export function WordChoice(
  items: object,
  rule: WordRule,
  { example, ...options }: FieldOptions,
  mostWords: number,
): PropertyDecorator {
  const uniqueItems = rule.subject ? true : undefined;
  const schema = { type: 'array', items, minItems: 1, maxItems: mostWords, uniqueItems, example };
  return applyDecorators(
    Field(
      options,
      // Without a type, Nest would use the type of the property, an array, instead of the schema.
      { schema, type: String, style: 'form', explode: false } as ApiPropertyOptions,
      Transform(({ value }: { value: unknown }) => wordsOf(value)),
      Rule(
        'words',
        (words) => problemOf(words, rule, mostWords) === undefined,
        (property, words) => `${property} must ${problemOf(words, rule, mostWords)}`,
      ),
    ),
    Reflect.metadata(MANY_VALUES, true),
  );
}

function problemOf(words: unknown, rule: WordRule, most: number): string | undefined {
  const { fits, what, subject } = rule;
  const listed = Array.isArray(words) ? (words as readonly string[]) : undefined;
  if (listed && listed.length > most) return `be at most ${most} words`;
  if (!listed?.every(fits)) return `be ${what}, or several of these separated by commas`;
  const isTwice = subject && new Set(listed.map(subject)).size < listed.length;
  return isTwice ? 'name no field twice' : undefined;
}

/** Splits each value at commas: some generated clients repeat the parameter, others write one list with commas. */
function wordsOf(value: unknown): unknown {
  const values = [value].flat();
  const areTexts = values.every((one) => typeof one === 'string');
  return areTexts ? values.flatMap((one) => one.split(',')) : value;
}
