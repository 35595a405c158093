import { nfkc } from '../../../platform/text.js';

/** Mark in a phrase that stands for a gap of at most WORDS_IN_A_GAP words. */
const GAP = '..';
const WORDS_IN_A_GAP = 8;
/** Mark at the end of a word in a phrase. The word then matches every word with the same beginning. */
const OPEN_END = '*';

/** Characters that NFKC expands to whole words. They become spaces, because they would multiply the text length. */
const WORD_SIGNS = /[\u3300-\u33ff\ufdf0-\ufdff]/g;
const FORMAT = /\p{Cf}/gu;
const PLAIN = /^[\x20-\x7e\s]*$/;
const WORD = /[\p{L}\p{N}]+/gu;
/** Characters of the Unicode block Tags, which can spell invisible ASCII. */
const TAGS = /[\u{e0020}-\u{e007e}]+/gu;
const BASE64 = /[A-Za-z0-9+/]{16,8192}={0,2}/g;
const MOST_DECODED = 50;
const PRINTED = /^[\t\n\r\x20-\x7e]{8,}$/;

/** Joined names such as `RansomwareFileEncryption`. They are also split into words. */
const JOINED = /\b\w{0,60}[a-z][A-Z_]\w{0,60}\b/g;
const MOST_JOINED = 200;

/** Returns the visible words of a text in small letters. Words that are hidden in tags or base64 follow at the end. */
export function wordsOf(text: string): readonly string[] {
  const plain = PLAIN.test(text) ? text : nfkc(text.replace(WORD_SIGNS, ' ')).replace(FORMAT, '');
  const joined = (plain.match(JOINED) ?? []).slice(0, MOST_JOINED);
  const parted = joined.map((name) => name.replace(/([a-z])(?=[A-Z])|_/g, '$1 '));
  const said = [plain, ...parted, ...hiddenIn(text)].join(' ').toLowerCase();
  return said.match(WORD) ?? [];
}

export const INVISIBLE = /[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\u{e0001}-\u{e007f}]/u;

function hiddenIn(text: string): string[] {
  const tags = PLAIN.test(text) ? [] : (text.match(TAGS) ?? []);
  const runs = (text.match(BASE64) ?? []).slice(0, MOST_DECODED);
  return [...tags.map(ofTags), ...runs.flatMap(decoded)];
}

const ofTags = (run: string): string =>
  String.fromCodePoint(...[...run].slice(0, 4096).map((tag) => tag.codePointAt(0)! - 0xe0000));

/** Returns the printable texts of a base64 run. Shells use UTF-16, mail and web use UTF-8, so both are tried. */
function decoded(run: string): string[] {
  const bytes = Buffer.from(run, 'base64');
  return [bytes.toString('latin1'), bytes.toString('utf16le')].filter((text) => PRINTED.test(text));
}

/** Finds the phrases of all signs in one pass without backtracking. More phrases do not take more time. */
export class Lexicon<Name extends string> {
  private readonly byStart = new Map<string, { name: Name; first: string; rest: string[] }[]>();

  constructor(phrases: Readonly<Record<Name, string>>) {
    for (const name of Object.keys(phrases) as Name[]) {
      for (const phrase of phrases[name].split('|')) {
        for (const [first, ...rest] of spelledOut(phrase.trim().split(/\s+/))) {
          const start = startOf(first!);
          this.byStart.set(start, [
            ...(this.byStart.get(start) ?? []),
            { name, first: first!, rest },
          ]);
        }
      }
    }
  }

  matchesIn(words: readonly string[]): ReadonlyMap<Name, string> {
    const found = new Map<Name, string>();
    words.forEach((word, at) => {
      for (const { name, first, rest } of this.byStart.get(startOf(word)) ?? []) {
        if (found.has(name) || !isWord(word, first)) continue;
        const followers = following(words, at + 1, rest);
        if (followers) found.set(name, [word, ...followers].join(' '));
      }
    });
    return found;
  }
}

/** Returns one list of words for each choice of alternatives: two lists for `virus found/seen`. */
const spelledOut = (words: readonly string[]): readonly (readonly string[])[] =>
  words.reduce<readonly (readonly string[])[]>(
    (begun, word) => begun.flatMap((said) => word.split('/').map((one) => [...said, one])),
    [[]],
  );

/** Returns the first letters of a word. An open end must not change them. */
const startOf = (word: string): string => word.slice(0, 3).replace(OPEN_END, '');

/** Returns the words that match the rest of a phrase, with a mark for each gap, or undefined without a match. */
function following(
  words: readonly string[],
  from: number,
  rest: readonly string[],
): readonly string[] | undefined {
  const followers: string[] = [];
  let at = from;
  let gap = 0;
  for (const word of rest) {
    const first = at;
    if (word !== GAP) {
      while (at <= first + gap && !isWord(words[at], word)) at += 1;
      if (at > first + gap) return undefined;
      if (at > first) followers.push('…');
      followers.push(words[at]!);
      at += 1;
    }
    gap = word === GAP ? WORDS_IN_A_GAP : 0;
  }
  return followers;
}

function isWord(said: string | undefined, meant: string): boolean {
  if (said === undefined) return false;
  return meant.endsWith(OPEN_END) ? said.startsWith(meant.slice(0, -1)) : said === meant;
}
