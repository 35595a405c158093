import type { AuthenticationResult, Method } from '../../evidence/mail-authentication.js';
import { MESSAGES, type Fact, type Facts, isOfTools, namePattern } from './facts.js';
import { wordsOf } from './phrases.js';
import { type Sign, SIGNS } from './signs.js';

/** Kinds of doubt. A sign raises one kind. A calming fact counts only against signs of the kinds that it explains. */
export type Doubt =
  /** Place or device of a sign-in. */
  | 'place'
  /** Authenticity of the sender, judged by checks that honest mails sometimes fail too. */
  | 'sender'
  /** Texts and pages that lure people. Exercises also contain them, on purpose. */
  | 'lure'
  | 'payment'
  /** Acts that administrators and programs do as well as attackers. */
  | 'work'
  /** Requests and guesses that scanners send as well as attackers. */
  | 'scan'
  /** Acts that occur only in an ordered exercise. */
  | 'drill'
  /** Acts and findings that only an analyst or the tool itself can dismiss. */
  | 'finding'
  | 'unwanted'
  /** Verdicts that the tool gave automatically, before a person saw the alert. */
  | 'tool'
  /** The tool's rating of its signs. A fact that explains the signs also explains the rating. */
  | 'rating'
  /** Words that try to persuade the reader. They do not weaken a proof. */
  | 'talk';

/** `proof`: an attacker cannot fake it. `who`: account, device, place, frequency, outcome or rating: shows no purpose. */
export type HabitKind = 'proof' | 'habit' | 'who';

type Test = RegExp | { readonly min?: number; readonly max?: number } | { readonly yes: RegExp };

/** A condition that needs code. The hash of the rules includes its name and source. */
export type Look = (facts: Facts) => readonly Fact[];

export type Condition =
  | Look
  | { readonly says: readonly Sign[] }
  /** Values under these names, or names that match the pattern. `by: 'tool'`: only where only a tool writes. */
  | { readonly of: readonly string[] | RegExp; readonly is: Test; readonly by?: 'tool' }
  | { readonly check: Method; readonly ends: readonly AuthenticationResult[] }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly only: (fact: Fact, facts: Facts) => boolean; readonly from: Condition };

export interface Rule {
  readonly name: string;
  /** Points: above 0 against the event, below 0 in favour of the event. */
  readonly points: number;
  readonly category?: string;
  readonly mitre: readonly string[];
  readonly sentence: string;
  readonly when: Condition;
  /** Kind of doubt that a sign raises. If absent, no calming fact lowers the points of the sign. */
  readonly doubt?: Doubt;
  /** True for an odd circumstance. A malicious verdict also needs an act, a finding or a confirmation. */
  readonly isCircumstance?: boolean;
  readonly calms?: readonly Doubt[];
  readonly kind?: HabitKind;
  /** True if the rule counts only for an event without any sign. */
  readonly isRoutine?: boolean;
}

/** Columns of a sign: name, points, category, doubt, ATT&CK techniques, sentence, condition. */
type SignRow = readonly [string, number, string, Doubt | '', string, string, Condition];
/** Columns of a calming fact: name, points, kind, explained doubts, sentence, condition. */
type CalmingRow = readonly [string, number, HabitKind, string, string, Condition];

const words = (text: string): readonly string[] => text.split(' ').filter(Boolean);

export const signs = (rows: readonly SignRow[], isCircumstance = false): readonly Rule[] =>
  rows.map(([name, points, category, doubt, mitre, sentence, when]) => ({
    ...{ name, points, category: category || undefined, doubt: doubt || undefined },
    ...{ mitre: words(mitre), sentence, when, isCircumstance },
  }));
export const circumstances = (rows: readonly SignRow[]): readonly Rule[] => signs(rows, true);
export const calming = (rows: readonly CalmingRow[], isRoutine = false): readonly Rule[] =>
  rows.map(([name, points, kind, calms, sentence, when]) => ({
    ...{ name, points, kind, calms: words(calms) as Doubt[], sentence, when, mitre: [], isRoutine },
  }));

export const all = (...conditions: readonly Condition[]): Condition => ({ all: conditions });
export const any = (...conditions: readonly Condition[]): Condition => ({ any: conditions });
export const says = (...said: readonly Sign[]): Condition => ({ says: said });
/** Like `says`, but ignores texts that people write, such as the text of a mail. */
export const tells = (...said: readonly Sign[]): Condition => ({
  only: ({ key }) => !MESSAGES.has(key),
  from: says(...said),
});
/** Like `says`, but ignores the parts of the text that match the pattern. */
export const saysBeside = (ignored: RegExp, sign: Sign): Condition => ({
  only: ({ value }) => SIGNS.matchesIn(wordsOf(String(value).replace(ignored, ' '))).has(sign),
  from: says(sign),
});
export const check = (method: Method, ...ends: readonly AuthenticationResult[]): Condition => ({
  check: method,
  ends,
});

const named = (names: string | RegExp) =>
  typeof names === 'string' ? words(names) : namePattern(names);
export const reads = (names: string | RegExp, is: Test): Condition => ({ of: named(names), is });
export const byTool = (names: string | RegExp, is: Test): Condition => ({
  ...{ of: named(names), is, by: 'tool' },
});
/** Matches an answer that is not negative and fits the pattern. */
export const yes = (like: RegExp): Test => ({ yes: like });

/** Matches an address of the internet. */
export const OUTSIDE =
  /^(?:::ffff:)?(?!0\.|10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)\d{1,3}(?:\.\d{1,3}){3}$|^2[\da-f]{3}:[\da-f:]+$/i;
export const YES = /^(?:true|yes|y|1)$/i;
export const isTrue = (names: string | RegExp): Condition => reads(names, YES);
export const isFalse = (names: string | RegExp): Condition => reads(names, /^(?:false|no|0)$/i);
export const atLeast = (min: number, names: string | RegExp): Condition => reads(names, { min });

export const unless = (bad: Condition, from: Condition): Condition => ({
  only: (_, facts) => evaluate(bad, facts).length === 0,
  from,
});

export function evaluate(condition: Condition, facts: Facts): readonly Fact[] {
  if (typeof condition === 'function') return condition(facts);
  if ('says' in condition) return facts.saying(...condition.says);
  if ('check' in condition) return facts.checked(condition.check, condition.ends);
  if ('any' in condition) return condition.any.flatMap((part) => evaluate(part, facts));
  if ('from' in condition) {
    return evaluate(condition.from, facts).filter((fact) => condition.only(fact, facts));
  }
  if ('all' in condition) {
    const firsts: Fact[] = [];
    for (const part of condition.all) {
      const [first] = evaluate(part, facts);
      if (first === undefined) return [];
      firsts.push(first);
    }
    return firsts;
  }
  const { of, is, by } = condition;
  const found = of instanceof RegExp ? facts.namedLike(of) : facts.named(...of);
  return found.flatMap((fact) => {
    if (by === 'tool' && !isOfTools(fact)) return [];
    const most = of instanceof RegExp ? LONGEST_TEXT : Infinity;
    const matched = matchOf(fact.value, is, by === 'tool', most);
    return matched === undefined ? [] : [quoting(fact, matched)];
  });
}

/** Maximum length of an answer. A longer value never counts in favour of an event. */
const LONGEST_ANSWER = 160;
/** Maximum length that is read if the condition selects names by a pattern. */
const LONGEST_TEXT = 2_000;
const NEGATIVE =
  /^(?:false|no|none|null|n\/?a|0|-|)$|\b(?:not?|none|never|without|missing|den(?:y|ies|ied)|refuse[sd]?|rejected|expired|pending|cancell?ed|withdrawn|unknown|unverified|unconfirmed|unapproved|failed|failure|mismatch|open|requested|unsigned|invalid|revoked|self|stolen|untrusted|unmanaged|disabled)\b/i;

function matchOf(
  value: Fact['value'],
  test: Test,
  isAnswer: boolean,
  most: number,
): string | undefined {
  const text = String(value).trim();
  if (!(test instanceof RegExp) && !('yes' in test)) {
    const { min = -Infinity, max = Infinity } = test;
    const count = countIn(value);
    return count >= min && count <= max ? text : undefined;
  }
  const pattern = 'yes' in test ? test.yes : test;
  if (!isAnswer) return pattern.exec(text.slice(0, most))?.[0];
  const isDenied = text.length > LONGEST_ANSWER || ('yes' in test && NEGATIVE.test(text));
  return !isDenied && pattern.test(text) ? text : undefined;
}

/** Returns the number in `1840`, `"1840"` or `1,840 machines today`; NaN for any other value. */
function countIn(value: Fact['value']): number {
  if (typeof value !== 'string') return typeof value === 'number' ? value : NaN;
  const [digits] = /^\d[\d,.']{0,15}(?=$| [a-z])/i.exec(value) ?? [];
  return digits === undefined ? NaN : Number(digits.replace(/[,'](?=\d{3})/g, ''));
}

/** If the matched part contains no word, the whole value is quoted. */
const A_WORD = /[\p{L}\p{N}]{3}/u;

export const quoting = (fact: Fact, matched = String(fact.value)): Fact => ({
  ...fact,
  words: `${fact.key}: ${A_WORD.test(matched) ? matched : String(fact.value)}`,
});
