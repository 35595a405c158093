import { defang } from '../../../incidents/defang.js';
import type { Classification } from '../../../incidents/incident.js';
import { isHostName } from '../../evidence/indicators.js';
import { visibleText } from '../../evidence/visible-text.js';
import { evaluate, reads, type Rule } from './conditions.js';
import type { Fact, Facts } from './facts.js';
import { CATEGORIES, type LookUp } from './next-steps.js';
import type { Finding } from './score.js';

const MOST_QUOTED = 3;
const LONGEST_QUOTE = 48;

/** Explains why a rule counted. Attackers may have written the matched words, so they are cut and defanged. */
export function explained({ sentence }: Rule, facts: readonly Fact[]): string {
  const quotes = new Set(facts.flatMap(({ words }) => (words?.trim() ? [quoted(words)] : [])));
  const seen = [...quotes].slice(0, MOST_QUOTED).join(', ');
  return seen === '' ? sentence : sentence.replace(/\.(?= |$)/, () => ` (${seen}).`);
}

const SHORTEST_KNOWN = 7;
/** Returns a key that recognizes the same words at another place. Short words are recognized only at the same place. */
function tokenOf(pointer: string, words: string): string {
  const said = words
    .replace(/^[\p{L}\p{N}]+: /u, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return said.length < SHORTEST_KNOWN ? `${pointer} ${said}` : said;
}

function quoted(words: string): string {
  const line = words
    .slice(0, LONGEST_QUOTE * 4)
    .replace(/\s+/g, ' ')
    .trim();
  const short = line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE - 1)}…` : line;
  return `"${defang(visibleText(short)).replaceAll('"', "'")}"`;
}

const MOST_REASONS = 5;
const MOST_GAPS = 3;

/** The reaction of the tool shows the outcome of the event and not its kind. */
const stopped = reads(
  'outcome action actiontaken disposition result mitigationstatus remediationstatus',
  /^(?:block(?:ed)?|den(?:y|ied)|prevented|quarantined?|removed|deleted|mitigated|remediated)\b/i,
);
const STOPPED =
  'The tool reports that it stopped the event, which limits the damage and does not change its kind.';

/** Writes the verdict for a colleague: the finding, the reasons, and the steps that would settle doubts. Omits the points. */
export function reasoningOf(
  classification: Classification,
  category: string,
  findings: readonly Finding[],
  facts: Facts,
  questions: readonly string[],
): string {
  const isBenign = classification === 'benign';
  const signs = sentences(findings.filter(({ rule }) => rule.points > 0));
  // The rule `says_enough` (the event is complete) supports only a benign verdict.
  const inFavour = findings.filter(({ rule }) => isBenign || rule.name !== 'says_enough');
  const calming = sentences(inFavour.filter(({ rule }) => rule.points < 0));
  const first = firstSentence(classification, category, signs.length > 0, facts);
  if (isBenign) return [first, ...calming, ...signs].join(' ');
  return [
    ...[first, ...signs],
    ...(calming.length === 0 ? [] : ['In its favour:', ...calming]),
    ...evaluate(stopped, facts)
      .slice(0, 1)
      .map(() => STOPPED),
    ...questions,
  ].join(' ');
}

/** Writes the strongest reason first. Omits a sentence whose facts an earlier sentence has already named. */
function sentences(findings: readonly Finding[]): string[] {
  const told = new Set<string>();
  const isNew = ({ facts }: Finding): boolean => {
    const tokens = facts.flatMap(({ pointer, words }) =>
      words?.trim() ? [tokenOf(pointer, words)] : [],
    );
    const isTold = tokens.length > 0 && tokens.every((token) => told.has(token));
    for (const token of tokens) told.add(token);
    return !isTold;
  };
  return findings
    .filter(isNew)
    .slice(0, MOST_REASONS)
    .map(({ rule, facts }) => explained(rule, facts));
}

function firstSentence(
  classification: Classification,
  category: string,
  hasSigns: boolean,
  facts: Facts,
): string {
  const [words] = CATEGORIES[category] ?? ['an attack'];
  const sentences: Readonly<Record<Classification, string>> = {
    malicious: `Malicious: ${words}${whereOf(facts)}.`,
    suspicious: `Suspicious: possibly ${words}${whereOf(facts)}.`,
    benign: 'Benign: facts from the tools explain the event.',
    inconclusive: hasSigns
      ? 'Inconclusive: the signs are too weak for a verdict.'
      : 'Inconclusive: the event has no sign of an attack that the rules know, and no proof that it is harmless.',
  };
  return sentences[classification];
}

/** Returns a valid name. Any other value is text of strangers, which must not appear in the first sentence. */
const nameIn = (value = ''): string | undefined =>
  /^[\p{L}\p{N}](?:[\p{L}\p{N}@._\\$:-]{0,62}[\p{L}\p{N}$])?$/u.test(value)
    ? defang(value)
    : undefined;

function whereOf({ fields, isMail }: Facts): string {
  const { sender, recipient, host = '', user, ip } = fields;
  const told = (before: string, value: string | undefined) => {
    const name = nameIn(value);
    return name === undefined ? '' : ` ${before} ${name}`;
  };
  if (isMail) return told('from', sender) + told('to', recipient);
  return told('on', isHostName(host) ? host : '') + told('of', user) + told('from', ip);
}

function whomToAsk({ fields }: Facts): string {
  const { host, repository, resource, user, recipient } = fields;
  const owned = nameIn(host) ?? nameIn(repository?.split('/').at(-1)) ?? nameIn(resource);
  if (owned !== undefined) return `the owner of ${owned}`;
  return nameIn(user) ?? nameIn(recipient) ?? 'the person whom it is about';
}

/** Names the missing facts, and the steps that would settle doubts. */
export function questionsOn(
  facts: Facts,
  missing: readonly string[],
  lookUps: readonly LookUp[],
): readonly string[] {
  const steps = lookUps.map(({ action, value, asks }) => `${action} of ${shown(value)} (${asks})`);
  const gaps = missing.slice(0, MOST_GAPS).join('; ');
  return [
    ...(gaps === '' ? [] : [`The event does not say: ${gaps}.`]),
    steps.length > 0
      ? `To settle it: ${steps.join(', or ')}.`
      : `Nothing that it names can be looked up: ask ${whomToAsk(facts)}, or for the raw event.`,
  ];
}

const LONGEST_VALUE = 120;
const shown = (value: string): string =>
  defang(value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE)}…` : value);
