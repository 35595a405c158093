import { ValidateBy } from 'class-validator';

const MOST_VALUES = 20;

const most = (known: readonly string[]): number => Math.max(MOST_VALUES, known.length);

/** One word, or several separated by commas, each of them known. */
export const Words = (known: readonly string[]): PropertyDecorator =>
  ValidateBy({
    name: 'words',
    validator: {
      validate: (value) => {
        const words = typeof value === 'string' ? value.split(',') : [];
        return (
          words.length > 0 &&
          words.length <= most(known) &&
          words.every((word) => known.includes(word))
        );
      },
      defaultMessage: ({ property } = {} as never) =>
        `${property} must be one of ${known.join(', ')}, or several of them separated by commas`,
    },
  });

/** The pattern of such a parameter, for the contract. */
export function wordsPattern(known: readonly string[]): string {
  const word = known.join('|');
  return `^(${word})(,(${word})){0,${most(known) - 1}}$`;
}
