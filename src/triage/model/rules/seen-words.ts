import { defang } from '../../../incidents/defang.js';
import { visibleText } from '../../evidence/visible-text.js';
import type { Fact } from './fact.js';
import type { Rule } from './rule.js';

const MOST_QUOTED = 3;
const LONGEST_QUOTE = 48;

/**
 * Why a rule counted: its sentence, and in brackets the words that it went by, because nobody finds them again in a long text. They
 * are an attacker's, perhaps: so they are short, on one line, and no address among them can be followed.
 */
export function explained({ explanation }: Rule, facts: readonly Fact[]): string {
  const quotes = new Set(facts.flatMap(({ words }) => (words?.trim() ? [quoted(words)] : [])));
  const seen = [...quotes].slice(0, MOST_QUOTED).join(', ');
  return seen === '' ? explanation : explanation.replace(/\.(?= |$)/, () => ` (${seen}).`);
}

/** What a rule went by: the place, and words that are long enough to be known again in another place. */
export function tokensOf(facts: readonly Fact[]): readonly (readonly string[])[] {
  return facts.flatMap(({ pointer, words }) => {
    if (!words?.trim()) return [];
    const said = words
      .replace(/^[\p{L}\p{N}]+: /u, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
    return [[`${pointer} ${said}`, ...(said.length >= SHORTEST_KNOWN ? [said] : [])]];
  });
}
const SHORTEST_KNOWN = 7;

function quoted(words: string): string {
  const line = words
    .slice(0, LONGEST_QUOTE * 4)
    .replace(/\s+/g, ' ')
    .trim();
  const short = line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE - 1)}…` : line;
  return `"${defang(visibleText(short)).replaceAll('"', "'")}"`;
}
