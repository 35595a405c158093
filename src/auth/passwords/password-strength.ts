import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { normalisePassword } from './password-requirements.js';

/** What its authors call safely unguessable: more than 10^8 guesses of one who knows how people choose. */
const GOOD_SCORE = 3;
/** Judging takes more than proportional time, and what begins with so many good characters is good. */
const JUDGED_CHARACTERS = 48;
const MOST_SUBSTITUTIONS = 16;
const SHORTEST_NAME_PART = 3;
/** What people think of first who set a password for this service. */
const SITE_WORDS = ['incident', 'triage', 'service', 'security', 'soc', 'response', 'alert'];
/** Characters that a password has beside such words. */
const LEAST_BESIDE_WORDS = 8;

let loading: Promise<ZxcvbnFactory> | undefined;

/**
 * Why a password is too easy to guess, or undefined: it is one of those that are used most, or put together from a few
 * of them, from the user's own name, words of this service, rows of keys, dates, repetitions and the usual replacements (`p4ssw0rd`).
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

/** At the first password that is set: the dictionary takes some 25 MB, which most replicas never need. */
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
