import { defang } from '../../../incidents/defang.js';
import type { Classification } from '../../../incidents/incident.js';
import { isHostName } from '../../evidence/indicators.js';
import { visibleText } from '../../evidence/visible-text.js';
import { evaluate, reads, type Rule } from './conditions.js';
import type { Fact, Facts } from './facts.js';
import type { LookUp } from './next-steps.js';
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

export const CATEGORY_WORDS: Readonly<Record<string, string>> = {
  phishing: 'phishing',
  bec: 'fraud by mail',
  malware_delivery: 'a mail that delivers malware',
  spam: 'spam',
  malware: 'malware',
  ransomware: 'ransomware',
  cryptominer: 'a cryptominer',
  rat: 'remote control by malware',
  pup: 'unwanted software',
  brute_force: 'password guessing',
  credential_stuffing: 'credential stuffing',
  data_exfiltration: 'data that was taken out',
  impossible_travel: 'impossible travel',
  account_takeover: 'account takeover',
  web_attack: 'an attack on a web server',
};

export interface Reasons {
  readonly classification: Classification;
  readonly category: string;
  readonly findings: readonly Finding[];
  readonly missing: readonly string[];
  readonly lookUps: readonly LookUp[];
}

/** The reaction of the tool shows the outcome of the event and not its kind. */
const stopped = reads(
  'outcome action actiontaken disposition result mitigationstatus remediationstatus',
  /^(?:block(?:ed)?|den(?:y|ied)|prevented|quarantined?|removed|deleted|mitigated|remediated)\b/i,
);
const STOPPED =
  'The tool reports that it stopped the event, which limits the damage and does not change its kind.';

/** Writes the verdict for a colleague: the finding, the reasons, and the steps that would settle doubts. Omits the points. */
export function reasoningOf(reasons: Reasons, facts: Facts): string {
  const { classification, findings } = reasons;
  const signs = sentences(findings, (points) => points > 0);
  const isBenign = classification === 'benign';
  // The rule `says_enough` (the event is complete) supports only a benign verdict.
  const inFavour = findings.filter(({ rule }) => isBenign || rule.name !== 'says_enough');
  const calming = sentences(inFavour, (points) => points < 0);
  const why = isBenign ? [...calming, ...signs] : signs;
  return [
    finding(reasons, facts),
    ...why,
    ...(isBenign || calming.length === 0 ? [] : ['In its favour:', ...calming]),
    ...(!isBenign && evaluate(stopped, facts).length > 0 ? [STOPPED] : []),
    ...(classification === 'inconclusive' ? open(reasons, facts) : []),
  ].join(' ');
}

/** Writes the strongest reason first. Omits a sentence whose facts an earlier sentence has already named. */
function sentences(findings: readonly Finding[], counts: (points: number) => boolean): string[] {
  const told = new Set<string>();
  const sentencesSoFar: string[] = [];
  for (const { rule, facts } of findings) {
    if (!counts(rule.points) || sentencesSoFar.length === MOST_REASONS) continue;
    const tokens = facts.flatMap(({ pointer, words }) =>
      words?.trim() ? [tokenOf(pointer, words)] : [],
    );
    const isTold = tokens.length > 0 && tokens.every((token) => told.has(token));
    for (const token of tokens) told.add(token);
    if (!isTold) sentencesSoFar.push(explained(rule, facts));
  }
  return sentencesSoFar;
}

function finding({ classification, category, findings }: Reasons, facts: Facts): string {
  const what = CATEGORY_WORDS[category] ?? 'an attack';
  switch (classification) {
    case 'malicious':
      return `Malicious: ${what}${whereOf(facts)}.`;
    case 'suspicious':
      return `Suspicious: possibly ${what}${whereOf(facts)}.`;
    case 'benign':
      return 'Benign: facts from the tools explain the event.';
    case 'inconclusive':
      return findings.some(({ rule }) => rule.points > 0)
        ? 'Inconclusive: the signs are too weak for a verdict.'
        : 'Inconclusive: the event has no sign of an attack that the rules know, and no proof that it is harmless.';
  }
}

/** Matches a valid name. Any other value is text of strangers, which must not appear in the first sentence. */
const A_NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}@._\\$:-]{0,62}[\p{L}\p{N}$])?$/u;

function whereOf({ fields, isMail }: Facts): string {
  const { sender, recipient, host, user, ip } = fields;
  const told = (before: string, name: string | undefined) =>
    name !== undefined && A_NAME.test(name) ? ` ${before} ${defang(name)}` : '';
  if (isMail) return told('from', sender) + told('to', recipient);
  return (
    told('on', host !== undefined && isHostName(host) ? host : undefined) +
    told('of', user) +
    told('from', ip)
  );
}

function whomToAsk({ fields }: Facts): string {
  const { host, repository, resource, user, recipient } = fields;
  const name = (value: string | undefined) =>
    value !== undefined && A_NAME.test(value) ? defang(value) : undefined;
  const owned = name(host) ?? name(repository?.split('/').at(-1)) ?? name(resource);
  return owned !== undefined
    ? `the owner of ${owned}`
    : (name(user) ?? name(recipient) ?? 'the person whom it is about');
}

function open({ missing, lookUps }: Reasons, facts: Facts): string[] {
  return [
    ...(missing.length > 0
      ? [`The event does not say: ${missing.slice(0, MOST_GAPS).join('; ')}.`]
      : []),
    lookUps.length > 0
      ? `To settle it: ${lookUps.map(({ action, value, asks }) => `${action} of ${shown(value)} (${asks})`).join(', or ')}.`
      : `Nothing that it names can be looked up: ask ${whomToAsk(facts)}, or for the raw event.`,
  ];
}

const LONGEST_VALUE = 120;
const shown = (value: string): string =>
  defang(value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE)}…` : value);
