import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { ValidateBy } from 'class-validator';

/*
 * Rules for new passwords: length, and resistance to guessing. Passwords that are tried at a login are not checked.
 */

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

/** zxcvbn calls this score "safely unguessable": it takes more than 10^8 guesses. */
const GOOD_SCORE = 3;
/** Judging long passwords is slow, and a password whose beginning is good is good. */
const JUDGED_CHARACTERS = 48;
const MOST_SUBSTITUTIONS = 16;
const SHORTEST_NAME_PART = 3;
/** The first words that people choose for a password of this service. */
const SITE_WORDS = ['incident', 'triage', 'service', 'security', 'soc', 'response', 'alert'];
/** Minimum number of characters that do not belong to the user name or these words. */
const LEAST_BESIDE_WORDS = 8;

/**
 * Keyboards and systems encode the same password differently, for example with composed letters or full-width digits.
 * NFKC unifies them before the length is counted and the password is hashed.
 */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/** Counts characters as people see them, not UTF-16 units. */
export function hasPermittedLength(password: unknown): password is string {
  if (typeof password !== 'string' || password.length > 4 * LONGEST_PASSWORD) return false;
  const length = [...normalisePassword(password)].length;
  return length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD;
}

/** Validates a field that sets a password. */
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

/** Loaded when the first password is set: the dictionary takes about 25 MB, which most replicas never need. */
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
