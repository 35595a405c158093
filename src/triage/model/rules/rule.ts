import type { Doubt } from './doubts.js';
import type { Facts } from './facts.js';
import type { Fact } from './fact.js';
import { MESSAGES } from './prose.js';
import { type Sign, SIGN_PHRASES } from './signs/signs.js';

export const RULE_GROUPS = [
  'mail',
  'endpoint',
  'network',
  'sign_in',
  'generic',
  'reassuring',
] as const;
export type RuleGroup = (typeof RULE_GROUPS)[number];

/** What a rule looks at: in words that people read and that count for the hash of the table, and as code. */
export interface Look {
  readonly at: string;
  /** The facts that bear it out; none when it does not hold. */
  find(facts: Facts): readonly Fact[];
}

export interface Rule {
  readonly name: string;
  readonly group: RuleGroup;
  /** One plain sentence: what was found and why it matters. */
  readonly explanation: string;
  readonly look: Look;
  /** Against the event; below zero for it. */
  readonly points: number;
  /** What the rule speaks for, if the event is what it looks like. */
  readonly category?: string;
  readonly mitre?: readonly string[];
  /** Of a rule that calms: the doubts that it explains. */
  readonly calms?: readonly Doubt[];
  /** Nobody who attacks can bring it about. Everything else that calms is a habit or a claim, which makes nothing benign. */
  readonly proof?: true;
}

const listed = (names: readonly string[]): string => names.join(', ');

/** A text anywhere that says one of these. */
export const says = (...signs: readonly Sign[]): Look => ({
  at: `texts that say ${listed(signs.map((sign) => SIGN_PHRASES[sign]))}`,
  find: (facts) => facts.saying(...signs),
});

/** As `says`, in anything but the text of a message. */
export const tells = (...signs: readonly Sign[]): Look => ({
  at: `${says(...signs).at}, outside of messages`,
  find: (facts) => facts.saying(...signs).filter(({ key }) => !MESSAGES.has(key)),
});

/** A value under one of these names that reads like the pattern. */
export const reads = (keys: readonly string[], pattern: RegExp): Look => ({
  at: `values of ${listed(keys)} like ${pattern.source}`,
  find: (facts) => matching(facts.named(...keys), (value) => pattern.exec(String(value))?.[0]),
});

export const isTrue = (...keys: readonly string[]): Look => reads(keys, /^(?:true|yes|1)$/i);
export const isFalse = (...keys: readonly string[]): Look => reads(keys, /^(?:false|no|0)$/i);

/** A number, or a text that is one, of at least so much. */
export const atLeast = (least: number, ...keys: readonly string[]): Look => ({
  at: `numbers of at least ${least} in ${listed(keys)}`,
  find: (facts) =>
    matching(
      facts.named(...keys),
      numeral((number) => number >= least),
    ),
});

export const atMost = (most: number, ...keys: readonly string[]): Look => ({
  at: `numbers of at most ${most} in ${listed(keys)}`,
  find: (facts) =>
    matching(
      facts.named(...keys),
      numeral((number) => number <= most),
    ),
});

/** As another look, but never at what a stranger may have written: what speaks for an event looks so. */
export const byTools = (keys: readonly string[], pattern: RegExp): Look => ({
  at: `values of ${listed(keys)} like ${pattern.source}, where only the tool writes`,
  find: (facts) => matching(facts.ofTools(...keys), (value) => answer(value, pattern)),
});

export const byToolsAtLeast = (least: number, ...keys: readonly string[]): Look => ({
  at: `numbers of at least ${least} in ${listed(keys)}, where only the tool writes`,
  find: (facts) =>
    matching(
      facts.ofTools(...keys),
      numeral((number) => number >= least),
    ),
});

/** All of them: the evidence of each. */
export const together = (...looks: readonly Look[]): Look => ({
  at: looks.map(({ at }) => at).join('; together with '),
  find: (facts) => {
    const found = looks.map((look) => look.find(facts));
    return found.every(({ length }) => length > 0) ? found.map(([first]) => first!) : [];
  },
});

export const anyOf = (...looks: readonly Look[]): Look => ({
  at: looks.map(({ at }) => at).join('; or '),
  find: (facts) => looks.flatMap((look) => look.find(facts)),
});

/** What an answer of a tool may be long. Of something longer nothing that speaks for an event is read. */
const LONGEST_ANSWER = 128;

export function numberOf(value: Fact['value']): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,15}(?:\.\d{1,6})?$/.test(value) ? Number(value) : NaN;
}

const numeral = (fits: (number: number) => boolean) => (value: Fact['value']) =>
  fits(numberOf(value)) ? String(value) : undefined;

const answer = (value: Fact['value'], pattern: RegExp): string | undefined => {
  const text = String(value);
  return text.length <= LONGEST_ANSWER && pattern.test(text.trim()) ? text.trim() : undefined;
};

/** What matched says nothing without what stands around it, when there is no word in it. */
const A_WORD = /[\p{L}\p{N}]{3}/u;

/** The facts whose value matches, each with what matched: behind its name, because `yes` alone says nothing. */
function matching(
  facts: readonly Fact[],
  match: (value: Fact['value']) => string | undefined,
): readonly Fact[] {
  return facts.flatMap((fact) => {
    const matched = match(fact.value);
    if (matched === undefined) return [];
    const words = A_WORD.test(matched) ? matched : String(fact.value);
    return [{ ...fact, words: `${fact.key}: ${words}` }];
  });
}
