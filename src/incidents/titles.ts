import { createHash } from 'node:crypto';
import { addressIn, OUTCOME_WORD } from './incident-fields.js';
import type { NewIncident } from './incident.js';
import {
  SUBJECT,
  SENDER,
  REPLY_TO,
  RECIPIENT,
  HOST,
  USER,
  ACCOUNT,
  ACCOUNT_NAME,
  ADDRESS,
  COUNTRY,
  OUTCOME,
  FILE,
  HASH,
  DESTINATION,
  DETECTION,
  RULE,
  rootsOf,
  firstText,
  together,
  type Spots,
  type Roots,
  LONGEST_TITLE,
  titleLine,
  shortened,
} from './raw-data-text.js';

const LONGEST_DETAIL = 60;
/**
 * Maximum length of a value before it is cut. The words of a tool may contain the whole value, and a mailbox ends with
 * the address.
 */
const LONGEST_VALUE = 400;

/** Facts appended to a title: facts of its recipe, or of other types if it has none. */
function factsBehind(title: string, details: readonly Detail[], roots: Roots): string {
  const found = new Facts(title, roots);
  for (const detail of details) found.add(detail);
  if (found.known > 0) return found.words;
  for (const detail of OTHERS) {
    if (found.known < MOST_OTHERS && !details.includes(detail)) found.add(detail);
  }
  return found.words;
}

/** Facts of the raw data that the title does not contain yet. */
class Facts {
  words = '';
  /** Number of facts, including those in the title. */
  known = 0;
  /** Locations that had a value. */
  private readonly found = new Set<Spots>();

  constructor(
    private readonly title: string,
    private readonly roots: Roots,
  ) {}

  add(detail: Detail): void {
    const { before, places, after = '', isMailbox, isBeside, most, shape, without } = detail;
    if (without && this.found.has(without)) return;
    const text = firstText(this.roots, places, LONGEST_VALUE);
    if (text === undefined || (shape && !shape.test(text))) return;
    // A cloud account is not a person: "for Example" would make it look like one.
    if (places === USER && this.isTenant(text)) return;
    this.found.add(places);
    if (!isBeside) this.known += 1;
    const value = valueOf(detail, text);
    const told = (isMailbox ? this.withoutSubject() : this.title) + this.words;
    // Many rules contain the name of the host or user.
    if (most ? told.includes(value) : hasWord(told, value)) return;
    this.words += `${before}${shortened(value, LONGEST_DETAIL)}${after}`;
  }

  private isTenant(user: string): boolean {
    return [ACCOUNT, ACCOUNT_NAME].every(
      (places) => firstText(this.roots, places, LONGEST_VALUE) === user,
    );
  }

  /** The sender is added even if the subject mentions it. */
  private withoutSubject(): string {
    const subject = firstText(this.roots, SUBJECT, LONGEST_VALUE);
    const words = this.title.replace(/"[^"]*"/, ' ');
    return subject ? words.replaceAll(subject, ' ') : words;
  }
}

function valueOf({ places, isMailbox, isPath, isQuoted, most }: Detail, text: string): string {
  // A resource of Azure, such as `/subscriptions/…/vaults/pay-keys`, is known by its last name.
  const isResource = places === HOST && text.startsWith('/');
  const value = isMailbox
    ? addressIn(text)
    : isPath || isResource
      ? fileName(text)
      : isQuoted
        ? withoutQuotes(text)
        : text;
  return value.slice(0, most);
}

/** Some tools put a path in quotes. */
const fileName = (path: string): string =>
  path.replaceAll('"', '').split(/[\\/]/).findLast(Boolean) ?? path;

/** Finds whole words only: `RU` is not in `TRUST`. */
function hasWord(text: string, word: string): boolean {
  const [all, sought] = [text.toLowerCase(), word.toLowerCase()];
  const start = all.indexOf(sought);
  const neighbours = [all[start - 1], all[start + sought.length]];
  return start >= 0 && !neighbours.some((one) => one !== undefined && LETTER.test(one));
}

const LETTER = /[\p{L}\p{N}]/u;

/** Escapes quotes, so that the author of the text cannot end the quotation. */
const withoutQuotes = (words: string): string => words.replaceAll('"', "'");
export const inQuotes = (words: string): string => `"${withoutQuotes(words)}"`;

/** A fact with the text around it. */
interface Detail {
  readonly before: string;
  readonly places: Spots;
  readonly after?: string;
  readonly isMailbox?: true;
  /** Shows only the file name. */
  readonly isPath?: true;
  /** Quotes the value, as in a recipe. */
  readonly isQuoted?: true;
  /** Shows only the first characters. */
  readonly most?: number;
  /** Ignores values of another form. */
  readonly shape?: RegExp;
  /** Used only if these locations had no value. */
  readonly without?: Spots;
  /** Distinguishes otherwise equal incidents. If it is the only fact, facts of other types are added. */
  readonly isBeside?: true;
}

interface Recipe {
  /** Text of third parties is quoted, so that it cannot pose as text of this service. */
  readonly quoted?: Spots;
  readonly what: Spots;
  readonly details: readonly Detail[];
}

const from = { before: ' from ', places: SENDER, isMailbox: true } as const;
const to = { before: ' to ', places: RECIPIENT, isMailbox: true } as const;
const replyTo: Detail = {
  before: ' (reply to ',
  places: REPLY_TO,
  after: ')',
  isMailbox: true,
  isBeside: true,
};
const user = { before: ' for ', places: USER };
const mailOfUser = { before: ' for ', places: ACCOUNT, shape: /@/, without: USER };
const userOrAccount = { before: ' for ', places: together(USER, ACCOUNT) };
const host = { before: ' on ', places: HOST };
/** Distinguishes failed from successful logins. */
const outcome: Detail = {
  before: ' (',
  places: OUTCOME,
  after: ')',
  shape: OUTCOME_WORD,
  isBeside: true,
};
const file: Detail = { before: ' in ', places: FILE, isPath: true };
const hash = {
  before: ' (',
  places: HASH,
  after: ')',
  shape: /^[0-9a-f]{32,}$/i,
  most: 12,
  without: HOST,
};
const address = { before: ' from ', places: ADDRESS };
const sourceBeside = { ...address, isBeside: true } as const;
const serverBeside = { before: ' (', places: ADDRESS, after: ')', isBeside: true } as const;
const country = { before: ' (', places: COUNTRY, after: ')' };
const destination = { before: ' to ', places: DESTINATION };

const MAIL: Recipe = { quoted: SUBJECT, what: RULE, details: [from, to] };
const SPAM: Recipe = { ...MAIL, details: [from, to, serverBeside] };
const BEC: Recipe = { ...MAIL, details: [from, replyTo, to] };
const MALWARE: Recipe = {
  what: together(DETECTION, RULE),
  details: [file, host, hash, user, mailOfUser],
};
const LOGIN: Recipe = { what: RULE, details: [outcome, user, mailOfUser, host, address, country] };
const TAKEOVER: Recipe = { what: RULE, details: [outcome, userOrAccount, host, address, country] };
const EXFILTRATION: Recipe = {
  what: RULE,
  details: [file, user, mailOfUser, host, sourceBeside, destination],
};
const POLICY: Recipe = { what: RULE, details: [file, user, mailOfUser, host, sourceBeside] };
const ANY: Recipe = {
  what: together(RULE, DETECTION),
  details: [host, user, mailOfUser, address, destination],
};

/** Facts for any type, used if the facts of the type are missing. */
export const OTHERS: readonly Detail[] = [
  { before: ' "', places: SUBJECT, after: '"', isQuoted: true },
  ...[from, to, user, mailOfUser, host, address, file, destination, country],
];
const MOST_OTHERS = 2;

/** Recipes by incident type. Other types use ANY. */
const RECIPES: ReadonlyMap<string, Recipe> = new Map([
  ['phishing', MAIL],
  ['spam', SPAM],
  ['bec', BEC],
  ['malware', MALWARE],
  ['ransomware', MALWARE],
  ['suspicious_login', LOGIN],
  ['brute_force', LOGIN],
  ['account_takeover', TAKEOVER],
  ['data_exfiltration', EXFILTRATION],
  ['policy_violation', POLICY],
]);

const recipeFor = (incidentType: string): Recipe => RECIPES.get(incidentType) ?? ANY;

/** After the words of a tool, the file comes last: `in a.exe for ada` would sound like a file of ada. */
const fileLast = ({ details }: Recipe): readonly Detail[] =>
  details.includes(file) ? [...details.filter((detail) => detail !== file), file] : details;

const LONGEST_WHAT = 100;

/**
 * Title of one line for a list: what happened, and to whom or where, such as `Malware: Emotet in invoice.exe on
 * FIN-LT-204`. Never empty. Takes bounded time for any raw data.
 */
export function incidentTitle(
  incidentType: string,
  rawData: Readonly<Record<string, unknown>>,
  source: string,
): string {
  const roots = rootsOf(rawData);
  const { quoted, what: places, details } = recipeFor(incidentType);
  const textAt = (spots: Spots) => firstText(roots, spots, LONGEST_WHAT);
  const quotedAt = (spots: Spots) => {
    const text = textAt(spots);
    return text && inQuotes(text);
  };
  const what = (quoted && quotedAt(quoted)) ?? textAt(places) ?? quotedAt(SUBJECT);
  const begun = beginning(incidentType, what);
  const facts = factsBehind(begun, details, roots);
  if (!what && facts === '') return titleWithoutDetails(incidentType, source);
  return shortened(begun + facts, LONGEST_TITLE);
}

/**
 * Words of a tool, followed by the facts that they omit, so that thirty alerts of one rule look different. `undefined`
 * if the words have no visible characters.
 */
export function titleOfTool(
  incidentType: string,
  words: string,
  rawData: Readonly<Record<string, unknown>>,
): string | undefined {
  const said = titleLine(words)?.replace(/(?<=\w)\.$/, '');
  if (said === undefined) return undefined;
  const facts = factsBehind(said, fileLast(recipeFor(incidentType)), rootsOf(rawData));
  const room = Math.max(LONGEST_TITLE - facts.length, LONGEST_WHAT);
  return shortened(shortened(said, room) + facts, LONGEST_TITLE);
}

/** Title of an incident without known facts, such as `Phishing from email-gateway`. */
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

/** Quoted text, and words with a digit, `@`, `/` or `\\`: they name one host, address, file or number. */
const VARYING_PARTS = /"[^"]*"|\S*[\d@/\\]\S*/gu;

/**
 * Group of incidents of one source and type whose titles differ only in numbers, ids, addresses, quoted names, and the names of
 * their host, user and file.
 */
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
