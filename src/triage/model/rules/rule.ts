import type { Doubt } from './doubts.js';
import type { Fact } from './fact.js';
import { type Facts, isOfTools, patternOfNames } from './facts.js';
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

/** What a habit is about. Habits of one kind repeat each other; those of several kinds bear each other out. */
export type HabitKind =
  | 'decided'
  | 'recorded'
  | 'confirmed'
  | 'usual'
  | 'planned'
  | 'role'
  | 'match'
  | 'clean'
  | 'bulk'
  | 'inside'
  | 'device'
  | 'where'
  | 'harmless'
  | 'signed'
  | 'widespread'
  | 'links'
  | 'who'
  | 'factor';

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
  readonly kind?: HabitKind;
  /** Nobody who attacks can bring it about. Everything else that calms is a habit or a claim, which makes nothing benign. */
  readonly proof?: true;
}

/** Names of values, written as one text with spaces between them. */
export const keys = (names: string): readonly string[] => names.trim().split(/\s+/);

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

/** Values under names like these with such an answer. */
export const answered = (pattern: RegExp, answers: (fact: Fact) => boolean, said: string): Look => {
  const names = patternOfNames(pattern);
  return {
    at: `answers (${said}) under names like ${names.source}`,
    find: (facts) =>
      facts
        .namedLike(names)
        .filter(answers)
        .map((fact) => ({ ...fact, words: `${fact.key}: ${String(fact.value)}` })),
  };
};

/** An answer that says no, or that nobody has answered yet. */
const NEGATIVE =
  /^(?:false|no|none|null|n\/?a|0|-)$|\b(?:not?|none|never|without|missing|denied|rejected|expired|pending|cancell?ed|withdrawn|unknown|unverified|unconfirmed|unapproved|failed|failure|mismatch|open|requested|unsigned|invalid|revoked|self|stolen|untrusted|unmanaged|disabled)\b/i;
const LONGEST_RECORD = 160;
const NO_IN_REMARK =
  /\b(?:not|nobody|never|without|missing|denied|denies|rejected|expired|pending|cancell?ed|withdrawn|unknown|unverified|unconfirmed|unapproved|mismatch|self[- ]approved|stolen|unmanaged|date open|reached yet)\b|\bno (?!route|threat|other|new|unusual|further|macros?|link)/i;

export const saysYes = ({ value }: Fact): boolean => {
  const text = String(value).trim();
  return text !== '' && text.length <= LONGEST_RECORD && !NEGATIVE.test(text);
};
export const reading = (pattern: RegExp) => (fact: Fact) =>
  saysYes(fact) && pattern.test(String(fact.value));

/** The same, where only the tool writes. */
export const recorded = (names: RegExp, answers: (fact: Fact) => boolean, said = 'yes'): Look => {
  const look = answered(names, answers, said);
  return {
    at: `${look.at}, where only the tool writes`,
    find: (facts) => look.find(facts).filter(isOfTools),
  };
};

/** What a tool or a colleague notes in words, whatever the name above it, unless the note says no. */
export const remarked = (pattern: RegExp): Look => ({
  at: `notes of tools and colleagues like ${pattern.source}`,
  find: (facts) =>
    matching(
      facts.remarks.filter(({ value }) => !NO_IN_REMARK.test(String(value))),
      (value) => pattern.exec(String(value))?.[0],
    ).map((fact) => ({ ...fact, remark: true as const })),
});

/** A number under names like these, of at least so much. */
export const countOf = (names: RegExp, least: number): Look =>
  answered(names, ({ value }) => numberOf(value) >= least, `at least ${least}`);

/** A text under names like these that reads like the pattern. */
export const told = (names: RegExp, pattern: RegExp): Look =>
  answered(
    names,
    ({ value }) => pattern.test(String(value).slice(0, 2_000)),
    `like ${pattern.source}`,
  );

export const affirmed = (names: RegExp): Look => told(names, /^(?:true|yes|1)$/i);
export const denied = (names: RegExp): Look => told(names, /^(?:false|no|0)$/i);

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
