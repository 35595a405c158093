import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { ValidateBy } from 'class-validator';

/*
 * What a password has to be to be set: of a certain length, and hard to guess. What may be tried at a login is not bound
 * by this.
 */

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

/** zxcvbn's own words for this score are “safely unguessable”: it takes more than 10^8 guesses. */
const GOOD_SCORE = 3;
/** Judging a long password takes too much time, and one that begins with so many good characters is good. */
const JUDGED_CHARACTERS = 48;
const MOST_SUBSTITUTIONS = 16;
const SHORTEST_NAME_PART = 3;
/** The first words that people think of when they set a password for this service. */
const SITE_WORDS = ['incident', 'triage', 'service', 'security', 'soc', 'response', 'alert'];
/** So many characters of a password must be no part of such words. */
const LEAST_BESIDE_WORDS = 8;

/**
 * The same password typed on another keyboard or system may arrive as other code points, such as a composed letter or a
 * full width digit. NFKC makes them the same, before the length is counted and before anything is hashed.
 */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/** Counted in characters as a person counts them, not in UTF-16 units. */
export function hasPermittedLength(password: unknown): password is string {
  if (typeof password !== 'string' || password.length > 4 * LONGEST_PASSWORD) return false;
  const length = [...normalisePassword(password)].length;
  return length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD;
}

/** For the field of a request that sets a password. */
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
 * Why a password is too easy to guess, or undefined. It is when it is one of the most common passwords, or made of common
 * passwords, the user's own name, words of this service, rows of keys, dates, repetitions or the usual replacements
 * (`p4ssw0rd`).
 */
export async function weaknessOf(password: string, username: string): Promise<string | undefined> {
  const text = normalisePassword(password);
  const nameWords = [username, ...username.split(/[._@-]+/)].filter(
    (word) => word.length >= SHORTEST_NAME_PART,
  );
  if (besideWords(text, [...nameWords, ...SITE_WORDS]).length < LEAST_BESIDE_WORDS) {
    return 'is made of the user name or of words of this service: take one that has nothing to do with them';
  }
  loading ??= load();
  if ((await loading).check(text, nameWords).score >= GOOD_SCORE) return undefined;
  return 'is too easy to guess: it is a common password, or made of common words and patterns';
}

function besideWords(text: string, words: readonly string[]): string {
  return words.reduce((rest, word) => rest.replaceAll(word, ''), text.toLowerCase());
}

/** Only when a password is set for the first time: the dictionary takes some 25 MB, which most replicas never need. */
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
