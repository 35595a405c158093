import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { ValidateBy } from 'class-validator';

/* Rules for new passwords: length, and resistance to guessing. Passwords of login attempts are not checked. */

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

/** zxcvbn calls this score "safely unguessable": guessing takes more than 10^8 attempts. */
const GOOD_SCORE = 3;
/** Checking long passwords is slow, and a password with a strong beginning is strong. */
const JUDGED_CHARACTERS = 48;
const MOST_SUBSTITUTIONS = 16;
const SHORTEST_NAME_PART = 3;
/** First words that people choose for a password of this service. */
const SITE_WORDS = ['incident', 'triage', 'service', 'security', 'soc', 'response', 'alert'];
/** Minimum number of characters outside the user name and these words. */
const LEAST_BESIDE_WORDS = 8;

/**
 * Unifies a password by NFKC, before its length is counted and the password is hashed: keyboards and systems encode
 * the same password differently, for example with composed letters or full-width digits.
 */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/** Counts visible characters, not UTF-16 units. */
export function hasPermittedLength(password: unknown): password is string {
  if (typeof password !== 'string' || password.length > 4 * LONGEST_PASSWORD) return false;
  const length = [...normalisePassword(password)].length;
  return length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD;
}

export const IsPassword = (): PropertyDecorator =>
  ValidateBy({
    name: 'password',
    validator: {
      validate: hasPermittedLength,
      defaultMessage: ({ property } = {} as never) =>
        `${property} must be ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`,
    },
  });

let loading: Promise<ZxcvbnFactory> | undefined;

/**
 * Returns why a password is too easy to guess, or `undefined`. Easy passwords are common passwords, or consist of
 * common words, the user name, words of this service, keyboard rows, dates, repetitions or usual replacements
 * (`p4ssw0rd`).
 */
export async function weaknessOf(password: string, username: string): Promise<string | undefined> {
  const text = normalisePassword(password);
  const nameWords = [username, ...username.split(/[._@-]+/)].filter(
    (word) => word.length >= SHORTEST_NAME_PART,
  );
  if (besideWords(text, [...nameWords, ...SITE_WORDS]).length < LEAST_BESIDE_WORDS) {
    return 'consists of the user name or of words of this service: choose an unrelated password';
  }
  loading ??= load();
  if ((await loading).check(text, nameWords).score >= GOOD_SCORE) return undefined;
  return 'is too easy to guess: it is a common password, or consists of common words and patterns';
}

function besideWords(text: string, words: readonly string[]): string {
  return words.reduce((rest, word) => rest.replaceAll(word, ''), text.toLowerCase());
}

/** Loads the dictionary at its first use: it takes about 25 MB, and most replicas never need it. */
async function load(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    maxLength: JUDGED_CHARACTERS,
    l33tMaxSubstitutions: MOST_SUBSTITUTIONS,
  });
}
