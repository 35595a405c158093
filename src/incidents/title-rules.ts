import { LONGEST_TITLE, shortened, titleLine } from './title-text.js';
import { firstText, type Roots, rootsOf, type Spots } from './title-values.js';
import {
  ADDRESS,
  COUNTRY,
  DESTINATION,
  DETECTION,
  FILE,
  HOST,
  RECIPIENT,
  RULE,
  SENDER,
  SUBJECT,
  USER,
} from './title-keys.js';

/** To whom, or where, it happened, with the words around it. */
interface Detail {
  readonly before: string;
  readonly places: Spots;
  readonly after?: string;
  readonly isMailbox?: true;
}

interface Recipe {
  /** What somebody outside of the house wrote: it is put in quotes, so that it cannot pose as words of ours. */
  readonly quoted?: Spots;
  readonly what: Spots;
  readonly details: readonly Detail[];
}

const from = { before: ' from ', places: SENDER, isMailbox: true } as const;
const to = { before: ' to ', places: RECIPIENT, isMailbox: true } as const;
const user = { before: ' for ', places: USER };
const host = { before: ' on ', places: HOST };
const file = { before: ' in ', places: FILE };
const address = { before: ' from ', places: ADDRESS };
const country = { before: ' (', places: COUNTRY, after: ')' };
const destination = { before: ' to ', places: DESTINATION };

const MAIL: Recipe = { quoted: SUBJECT, what: RULE, details: [from, to] };
const MALWARE: Recipe = { what: [...DETECTION, ...RULE], details: [file, host, user] };
const LOGIN: Recipe = { what: RULE, details: [user, host, address, country] };
const EXFILTRATION: Recipe = { what: RULE, details: [file, user, host, destination] };
const POLICY: Recipe = { what: RULE, details: [file, user, host] };
const ANY: Recipe = {
  what: [...RULE, ...DETECTION, ...SUBJECT],
  details: [host, user, address, destination],
};

/** One for each known type but `other`, which has that of unknown types. */
const RECIPES: ReadonlyMap<string, Recipe> = new Map([
  ['phishing', MAIL],
  ['spam', MAIL],
  ['bec', MAIL],
  ['malware', MALWARE],
  ['ransomware', MALWARE],
  ['suspicious_login', LOGIN],
  ['account_takeover', LOGIN],
  ['data_exfiltration', EXFILTRATION],
  ['policy_violation', POLICY],
]);

const LONGEST_WHAT = 100;
const LONGEST_DETAIL = 60;
const LONGEST_MAILBOX = 400;

/**
 * One line that tells the incident apart in a list: what happened, and to whom or where, such as
 * `Malware: Emotet in invoice.exe on FIN-LT-204`. Never empty. Its work is bounded, whatever the raw data is.
 */
export function incidentTitle(
  incidentType: string,
  rawData: Readonly<Record<string, unknown>>,
  source: string,
): string {
  const roots = rootsOf(rawData);
  const { quoted = [], what: places, details } = RECIPES.get(incidentType) ?? ANY;
  const words = firstText(roots, quoted, LONGEST_WHAT);
  // Who wrote it cannot end the quotes.
  const what = words ? `"${words.replaceAll('"', "'")}"` : firstText(roots, places, LONGEST_WHAT);
  const begun = beginning(incidentType, what);
  const title = details.reduce((soFar, detail) => soFar + inWords(detail, roots, soFar), begun);
  if (!what && title === begun) return titleWithoutDetails(incidentType, source);
  return shortened(title, LONGEST_TITLE);
}

function inWords(detail: Detail, roots: Roots, title: string): string {
  const { before, places, after = '', isMailbox } = detail;
  const text = firstText(roots, places, isMailbox ? LONGEST_MAILBOX : LONGEST_DETAIL);
  if (!text) return '';
  const value = isMailbox ? shortened(addressOf(text), LONGEST_DETAIL) : text;
  // Many a rule names the host or the user itself. What a mail says of its sender is no reason to leave the sender out.
  return isMailbox || !hasWord(title, value) ? `${before}${value}${after}` : '';
}

/** Anybody may choose any name to stand before the address, as in `The CEO <someone@example.net>`. */
function addressOf(mailbox: string): string {
  const address = mailbox.endsWith('>') ? mailbox.slice(mailbox.lastIndexOf('<') + 1, -1) : '';
  return address.includes('@') ? address : mailbox;
}

/** Not as a part of a longer word: `RU` is not in `TRUST`. */
function hasWord(text: string, word: string): boolean {
  const [all, sought] = [text.toLowerCase(), word.toLowerCase()];
  const start = all.indexOf(sought);
  const neighbours = [all[start - 1], all[start + sought.length]];
  return start >= 0 && !neighbours.some((one) => one !== undefined && LETTER.test(one));
}

const LETTER = /[\p{L}\p{N}]/u;

/** For an incident of which nothing more is known, such as `Phishing from email-gateway`. */
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

const LABELS: ReadonlyMap<string, string> = new Map([
  ['bec', 'BEC'],
  ['other', 'Incident'],
]);

function label(incidentType: string): string {
  const words = incidentType.replaceAll('_', ' ').trimEnd();
  return LABELS.get(incidentType) ?? words.charAt(0).toUpperCase() + words.slice(1);
}
