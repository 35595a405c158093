import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, ValidateBy } from 'class-validator';
import { Field, type FieldOptions, integer } from './fields.js';

/* Kinds of fields that only a query string has, where everything is text. */

interface RangeOptions extends FieldOptions {
  readonly min: number;
  readonly max: number;
}

/** A whole number: digits alone, so that `1e3`, `0x10` and ` 1` are refused. */
export function QueryInteger({ min, max, ...options }: RangeOptions): PropertyDecorator {
  return Field(
    options,
    integer(min, max),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    ValidateBy({
      name: 'integerRange',
      validator: {
        validate: (value) => Number.isInteger(value) && value >= min && value <= max,
        defaultMessage: ({ property } = {} as never) =>
          `${property} must be a whole number from ${min} to ${max}`,
      },
    }),
  );
}

/** True or false, in these words. */
export function QueryFlag(options: FieldOptions = {}): PropertyDecorator {
  return Field(
    options,
    { type: 'boolean' },
    Transform(({ value }: { value: unknown }) => {
      if (value === 'true') return true;
      return value === 'false' ? false : value;
    }),
    IsBoolean(),
  );
}

/** A list may have as many words as are known, and this many where fewer are known, since a word may be repeated. */
const MOST_WORDS = 20;

const MANY_VALUES = Symbol('many values');

/** Whether the parameter of a query, which this class describes, takes several values. */
export function takesManyValues(query: new () => object, name: string): boolean {
  return Reflect.getMetadata(MANY_VALUES, query.prototype as object, name) === true;
}

/** Known words, of a set that a field of an answer names as `Choice(name, known)`. Several are separated by commas, or the parameter is repeated. */
export function Words(
  name: string,
  known: readonly string[],
  options: FieldOptions = {},
): PropertyDecorator {
  return List(
    { $ref: `#/components/schemas/${name}` },
    { fits: (word) => known.includes(word), what: `one of ${known.join(', ')}` },
    { description: 'One of these words, or several separated by commas.', ...options },
    Math.max(MOST_WORDS, known.length),
  );
}

/** Words of a pattern. Several are separated by commas, or the parameter is repeated. `what` says it to people. */
export function WordList(
  { word, what }: { readonly word: RegExp; readonly what: string },
  options: FieldOptions = {},
): PropertyDecorator {
  const items = { type: 'string', pattern: word.source };
  return List(items, { fits: (text) => word.test(text), what }, options, MOST_WORDS);
}

interface WordRule {
  readonly fits: (word: string) => boolean;
  readonly what: string;
}

function List(
  items: object,
  { fits, what }: WordRule,
  { example, ...options }: FieldOptions,
  mostWords: number,
): PropertyDecorator {
  const schema = { type: 'array', items, minItems: 1, maxItems: mostWords, example };
  return applyDecorators(
    Field(
      options,
      // Without a type Nest takes that of the property, an array, in place of the schema.
      { schema, type: String, style: 'form', explode: false } as ApiPropertyOptions,
      Transform(({ value }: { value: unknown }) => wordsOf(value)),
      ValidateBy({
        name: 'words',
        validator: {
          validate: (list) => Array.isArray(list) && list.length <= mostWords && list.every(fits),
          defaultMessage: ({ property, value } = {} as never) =>
            Array.isArray(value) && value.length > mostWords
              ? `${property} must be at most ${mostWords} words`
              : `${property} must be ${what}, or several of them separated by commas`,
        },
      }),
    ),
    Reflect.metadata(MANY_VALUES, true),
  );
}

/** Each value may be several itself: generated clients write lists in either way. */
function wordsOf(value: unknown): unknown {
  const values = [value].flat();
  const areTexts = values.every((one) => typeof one === 'string');
  return areTexts ? values.flatMap((one) => one.split(',')) : value;
}
