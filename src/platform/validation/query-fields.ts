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

/** One of the known words, or several of them separated by commas. */
export function Words(known: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  const description = `${known.join(', ')}: one, or several separated by commas.`;
  return WordList(
    { word: known.join('|'), what: `one of ${known.join(', ')}` },
    { description, ...options },
    Math.max(MOST_WORDS, known.length),
  );
}

/** One word, or several separated by commas. `word` is the pattern of a word, without `^` and `$`; `what` says it to people. */
export function WordList(
  { word, what }: { readonly word: string; readonly what: string },
  options: FieldOptions = {},
  mostWords = MOST_WORDS,
): PropertyDecorator {
  const wordsOf = (value: unknown) => (typeof value === 'string' ? value.split(',') : []);
  const list = new RegExp(`^(${word})(,(${word})){0,${mostWords - 1}}$`);
  return Field(
    options,
    { type: 'string', pattern: list.source },
    ValidateBy({
      name: 'words',
      validator: {
        validate: (value) => typeof value === 'string' && list.test(value),
        defaultMessage: ({ property, value } = {} as never) =>
          wordsOf(value).length > mostWords
            ? `${property} must be at most ${mostWords} words`
            : `${property} must be ${what}, or several of them separated by commas`,
      },
    }),
  );
}
