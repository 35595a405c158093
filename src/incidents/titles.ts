import { createHash } from 'node:crypto';
import { addressIn, OUTCOME_WORD, type RawData } from './incident-fields.js';
import type { NewIncident } from './incident.js';
import { AT, firstText, LONGEST_TITLE, shortened, type Spots, titleLine } from './raw-data-text.js';

const LONGEST_DETAIL = 60;
/** Maximum length of a value before it is shortened. The address at the end of a mailbox must not be cut off. */
const LONGEST_VALUE = 400;

interface Detail {
  readonly before: string;
  readonly at: Spots;
  readonly after?: string;
  readonly shown?: (text: string) => string;
  readonly shape?: RegExp;
}

interface Recipe {
  /** Paths of third-party text. Titles quote this text, so that it does not look like text of this service. */
  readonly quoted?: Spots;
  readonly what: Spots;
  readonly details: readonly Detail[];
}

/** Removes quotes, which some tools add to a path. */
const fileName = (path: string): string =>
  path.replaceAll('"', '').split(/[\\/]/).findLast(Boolean) ?? path;

/** Returns the last part of the path of an Azure resource, such as `/subscriptions/…/vaults/pay-keys`. */
const hostName = (text: string): string => (text.startsWith('/') ? fileName(text) : text);

/** Replaces quotes, so that the author of the text cannot end the quotation. */
const withoutQuotes = (words: string): string => words.replaceAll('"', "'");
export const inQuotes = (words: string): string => `"${withoutQuotes(words)}"`;

const from: Detail = { before: ' from ', at: AT.sender, shown: addressIn };
const to: Detail = { before: ' to ', at: AT.recipient, shown: addressIn };
const replyTo: Detail = { before: ' (reply to ', at: AT.replyTo, after: ')', shown: addressIn };
const user: Detail = { before: ' for ', at: AT.user };
const userOrAccount: Detail = { before: ' for ', at: [...AT.user, ...AT.account] };
const host: Detail = { before: ' on ', at: AT.host, shown: hostName };
const outcome: Detail = { before: ' (', at: AT.outcome, after: ')', shape: OUTCOME_WORD };
const file: Detail = { before: ' in ', at: AT.file, shown: fileName };
const address: Detail = { before: ' from ', at: AT.address };
const server: Detail = { before: ' (', at: AT.address, after: ')' };
const country: Detail = { before: ' (', at: AT.country, after: ')' };
const destination: Detail = { before: ' to ', at: AT.destination };
const subject: Detail = { before: ' "', at: AT.subject, after: '"', shown: withoutQuotes };

const MAIL: Recipe = { quoted: AT.subject, what: AT.rule, details: [from, to] };
const MALWARE: Recipe = { what: [...AT.detection, ...AT.rule], details: [file, host, user] };
const LOGIN: Recipe = { what: AT.rule, details: [outcome, user, host, address, country] };
const ANY: Recipe = {
  what: [...AT.rule, ...AT.detection],
  details: [host, user, address, destination],
};

/** Recipes by incident type. Types that are not listed use ANY. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  phishing: MAIL,
  spam: { ...MAIL, details: [from, to, server] },
  bec: { ...MAIL, details: [from, replyTo, to] },
  malware: MALWARE,
  ransomware: MALWARE,
  suspicious_login: LOGIN,
  brute_force: LOGIN,
  account_takeover: { ...LOGIN, details: [outcome, userOrAccount, host, address, country] },
  data_exfiltration: { what: AT.rule, details: [file, user, host, address, destination] },
  policy_violation: { what: AT.rule, details: [file, user, host, address] },
};

const OTHERS = [subject, from, to, user, host, address, file, destination, country];
const MOST_OTHERS = 2;

/** Returns the facts that the title does not contain: facts of the type or, if there are none, other facts. */
function factsBehind(title: string, details: readonly Detail[], rawData: RawData): string {
  const own = factsOf(details, rawData);
  const facts = own.length > 0 ? own : factsOf(OTHERS, rawData).slice(0, MOST_OTHERS);
  let words = '';
  for (const { value, before, after = '', shown } of facts) {
    // Ignores quoted text when the value is a mail address, because a quoted subject may mention the address.
    const told = (shown === addressIn ? title.replace(/"[^"]*"/, ' ') : title) + words;
    if (!hasWord(told, value)) words += before + shortened(value, LONGEST_DETAIL) + after;
  }
  return words;
}

function factsOf(details: readonly Detail[], rawData: RawData) {
  return details.flatMap((detail) => {
    const { at, shape = /^/, shown = (text) => text } = detail;
    const text = firstText(rawData, at, LONGEST_VALUE);
    return text !== undefined && shape.test(text) ? [{ ...detail, value: shown(text) }] : [];
  });
}

const LETTER = /[\p{L}\p{N}]/u;

function hasWord(text: string, word: string): boolean {
  const [all, sought] = [text.toLowerCase(), word.toLowerCase()];
  const start = all.indexOf(sought);
  const neighbours = [all[start - 1], all[start + sought.length]];
  return start >= 0 && !neighbours.some((one) => one !== undefined && LETTER.test(one));
}

const recipeFor = (incidentType: string): Recipe =>
  Object.hasOwn(RECIPES, incidentType) ? RECIPES[incidentType]! : ANY;

const LONGEST_WHAT = 100;

/** Returns one line, never empty, in bounded time: `Malware: Emotet in invoice.exe on FIN-LT-204`. */
export function incidentTitle(incidentType: string, rawData: RawData, source: string): string {
  const { quoted, what: named, details } = recipeFor(incidentType);
  const textAt = (spots: Spots) => firstText(rawData, spots, LONGEST_WHAT);
  const quotedAt = (spots: Spots) => {
    const text = textAt(spots);
    return text && inQuotes(text);
  };
  const what = (quoted && quotedAt(quoted)) ?? textAt(named) ?? quotedAt(AT.subject);
  const begun = beginning(incidentType, what);
  const facts = factsBehind(begun, details, rawData);
  if (!what && facts === '') return titleWithoutDetails(incidentType, source);
  return shortened(begun + facts, LONGEST_TITLE);
}

/** Adds missing facts, so that titles of one rule differ. `undefined` if the title has no visible characters. */
export function titleOfTool(
  incidentType: string,
  words: string,
  rawData: RawData,
): string | undefined {
  const said = titleLine(words)?.replace(/(?<=\w)\.$/, '');
  if (said === undefined) return undefined;
  const facts = factsBehind(said, recipeFor(incidentType).details, rawData);
  const room = Math.max(LONGEST_TITLE - facts.length, LONGEST_WHAT);
  return shortened(shortened(said, room) + facts, LONGEST_TITLE);
}

export function titleWithoutDetails(incidentType: string, source: string): string {
  const where = titleLine(source, LONGEST_DETAIL);
  return where ? `${label(incidentType)} from ${where}` : label(incidentType);
}

function beginning(incidentType: string, what: string | undefined): string {
  const kind = label(incidentType);
  if (!what) return kind;
  const says = incidentType === 'other' || what.toLowerCase().startsWith(kind.toLowerCase());
  return says ? what : `${kind}: ${what}`;
}

function label(incidentType: string): string {
  if (incidentType === 'bec') return 'BEC';
  if (incidentType === 'other') return 'Incident';
  const words = incidentType.replaceAll('_', ' ').trimEnd();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Parts of a title that are specific to it: quoted text, and words with a digit, `@`, `/` or a backslash. */
const VARYING_PARTS = /"[^"]*"|\S*[\d@/\\]\S*/gu;

/** Titles of a group (one source and type) differ only in numbers, ids, addresses, quoted text, hosts, users, files. */
export function groupOf({
  source,
  incident_type,
  title,
  fields,
}: Pick<NewIncident, 'source' | 'incident_type' | 'title' | 'fields'>): string {
  const { host, user, file } = fields;
  const names = [host, user, file && fileName(file)].filter((name) => name !== undefined);
  const shape = names
    .filter((name) => name.length > 2)
    .reduce((words, name) => words.replaceAll(name.toLowerCase(), '#'), title.toLowerCase())
    .replace(VARYING_PARTS, '#')
    .replace(/\s+/gu, ' ');
  const hash = createHash('sha256').update(JSON.stringify([source, incident_type, shape]));
  return hash.digest('hex').slice(0, 32);
}
