import { ValidateBy } from 'class-validator';

const MOST_VALUES = 20;

const most = (known: readonly string[]): number => Math.max(MOST_VALUES, known.length);

/** One word, or several separated by commas, each of them such as `isWord` wants it. */
export const WordList = (
  isWord: (word: string) => boolean,
  what: string,
  mostWords = MOST_VALUES,
): PropertyDecorator =>
  ValidateBy({
    name: 'words',
    validator: {
      validate: (value) => {
        const words = wordsOf(value);
        return words.length > 0 && words.length <= mostWords && words.every(isWord);
      },
      defaultMessage: ({ property, value } = {} as never) =>
        wordsOf(value).length > mostWords
          ? `${property} must be at most ${mostWords} words`
          : `${property} must be ${what}, or several of them separated by commas`,
    },
  });

const wordsOf = (value: unknown): string[] => (typeof value === 'string' ? value.split(',') : []);

/** The same with words that are known. */
export const Words = (known: readonly string[]): PropertyDecorator =>
  WordList((word) => known.includes(word), `one of ${known.join(', ')}`, most(known));

/** The pattern of such a parameter, for the contract: `word` is a pattern itself. */
export function wordListPattern(word: string, mostWords = MOST_VALUES): string {
  return `^(${word})(,(${word})){0,${mostWords - 1}}$`;
}

export function wordsPattern(known: readonly string[]): string {
  return wordListPattern(known.join('|'), most(known));
}
