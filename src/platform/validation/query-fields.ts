import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean } from 'class-validator';
import { Field, type FieldOptions, integer, Rule } from './fields.js';

interface RangeOptions extends FieldOptions {
  readonly min: number;
  readonly max: number;
}

/** Whole number that consists only of digits: rejects `1e3`, `0x10` and ` 1`. */
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

/** Every list may have at least this number of items, because it may contain all known words and repeat them. */
const MOST_WORDS = 20;

const MANY_VALUES = Symbol('many values');

export function takesManyValues(query: new () => object, name: string): boolean {
  return Reflect.getMetadata(MANY_VALUES, query.prototype as object, name) === true;
}

/** Words that a response field declares with `Choice(name, known)`, separated by commas or repeated parameters. */
export const Words = (name: string, known: readonly string[], options: FieldOptions = {}) =>
  WordChoice(
    { $ref: `#/components/schemas/${name}` },
    { fits: (word) => known.includes(word), what: `one of ${known.join(', ')}` },
    { description: 'One of these words, or several separated by commas.', ...options },
    Math.max(MOST_WORDS, known.length),
  );

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
  readonly what: string;
  /** Returns the subject of a word, if each subject may occur only once. */
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

/** Some generated clients repeat the parameter, and others write one list with commas. */
function wordsOf(value: unknown): unknown {
  const values = [value].flat();
  const areTexts = values.every((one) => typeof one === 'string');
  return areTexts ? values.flatMap((one) => one.split(',')) : value;
}
