import {
  INCIDENT_TYPE,
  KNOWN_INCIDENT_TYPES,
  SEVERITIES,
  type Severity,
} from '../../incidents/incident.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import type {
  ReadingRules,
  SeverityMapping,
  TypeMapping,
} from '../sources/webhook-source.entity.js';
import { type Json, numberOf } from './json.js';

/** An event as a format or a mapping reads it. */
export interface Alert {
  /** The event as received. */
  readonly event: Json;
  /** Id of the event at the sender. */
  readonly eventId?: string;
  readonly title?: string;
  /** Word of the event for its type. It counts if it is a known incident type. */
  readonly type?: string;
  /** Category, tactic and rule of the tool. They determine the type if `type` does not. */
  readonly words?: readonly string[];
  /** Words that only the type_mapping of the source translates. */
  readonly mappedWords?: readonly (string | undefined)[];
  /** Type if neither the event nor the source has one. */
  readonly usualType: string;
  readonly severity?: SaidSeverity;
  /** Values for `fields` of the incident, such as `sender`. */
  readonly lift?: Readonly<Record<string, Json>>;
}

/** Severity in the words of the event, such as `High` or `72`. */
export interface SaidSeverity {
  readonly said: string;
  /** Number beside the word. Ranges of severity_mapping apply to it. */
  readonly number?: number;
  /** Severity by the scale of the format, if severity_mapping has none. */
  readonly level?: Severity;
}

interface ReadSeverity {
  readonly severity: Severity;
  /** Word of the event, if its meaning is unknown. */
  readonly unknownWord?: string;
}

const WORDS: ReadonlyMap<string, Severity> = new Map([
  ['informational', 'low'],
  ['info', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['moderate', 'medium'],
  ['high', 'high'],
  ['critical', 'critical'],
  ['severe', 'critical'],
]);

/** The mapping of the source has priority over the usual words, and these over the scale of the format. */
export function severityOf(
  said: SaidSeverity | undefined,
  mapping: SeverityMapping = {},
): ReadSeverity {
  if (!said) return { severity: 'medium' };
  const word = lowerCase(said.said);
  const severity = mappedSeverity(word, said, mapping) ?? WORDS.get(word) ?? said.level;
  return severity ? { severity } : { severity: 'medium', unknownWord: shownName(said.said) };
}

function mappedSeverity(
  word: string,
  said: SaidSeverity,
  mapping: SeverityMapping,
): Severity | undefined {
  const entries = Object.entries(mapping);
  const byWord = entries.find(([key]) => lowerCase(key) === word);
  if (byWord) return byWord[1];
  const number = said.number ?? numberOf(said.said);
  if (number === undefined) return undefined;
  const rangeWith = (value: number) =>
    entries.find(([key]) => {
      const range = numberRange(key);
      return range && range.from <= value && value <= range.to;
    })?.[1];
  // Ranges have whole numbers: between 0-39 and 40-59, 39.5 counts as 39.
  return rangeWith(number) ?? rangeWith(Math.floor(number));
}

function lowerCase(word: string): string {
  return word.trim().toLowerCase();
}

type KnownIncidentType = (typeof KNOWN_INCIDENT_TYPES)[number];

/** From words of a vendor, as normalWord writes them, to incident types. */
export type Translations = ReadonlyMap<string, KnownIncidentType>;

const LONGEST_WORD = 100;

const KNOWN: Translations = new Map(KNOWN_INCIDENT_TYPES.map((type) => [normalWord(type), type]));

/** Returns the type that the word names. Case, spaces, hyphens and underscores do not matter. */
export function knownType(
  word: string | undefined,
  translations?: Translations,
): KnownIncidentType | undefined {
  if (word === undefined || word.length > LONGEST_WORD) return undefined;
  const normal = normalWord(word);
  return KNOWN.get(normal) ?? translations?.get(normal);
}

function normalWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

/**
 * Types of the words that tools use for categories, tactics and rules. The first match counts: a ransomware that spreads by phishing is
 * ransomware. A space stands for a space, a hyphen, a change of case or nothing: see spacedWord.
 */
const VOCABULARY = (
  [
    ['ransomware', String.raw`ransom|data encrypted for impact|inhibit system recovery|shadow cop`],
    [
      'account_takeover',
      String.raw`account takeover|compromised (?:account|user|identity)|account compromise|(?:inbox|mailbox|mail forwarding|forwarding) rule|inbox (?:forwarding|manipulation)|followed by a success|fail[\w-]*(?:then|followed)[\w-]*(?:success|worked)|success[\w-]*many fail|stolen credential|leaked credential|credential exfiltration`,
    ],
    [
      'brute_force',
      String.raw`brute force|password spray|credential stuffing|password guess|(?:many|multiple|too many|repeated) (?:failed|authentication fail|log [io]n fail)|(?:login|logon|authentication) failures|tries many passwords`,
    ],
    ['bec', String.raw`business email compromise|\|bec\||impost[eo]r|impersonation|ceo fraud`],
    ['phishing', String.raw`phish|mail reported by|email reported`],
    ['spam', String.raw`\|spam`],
    ['data_exfiltration', String.raw`exfiltrat|data loss|data leak|\|dlp\|`],
    [
      'suspicious_login',
      String.raw`impossible travel|atypical travel|unusual travel|\bsign in(?:s|logs)?\b|\blog[io]n|\blog-[io]n\b|user session|anonymous ip|mfa fatigue|authentication (?:failed|failure|success)`,
    ],
    [
      'malware',
      String.raw`malware|trojan|backdoor|\bvirus|\bworm|rootkit|spyware|adware|crypto (?:currency|min)|coin min|\bminer|botnet|command and control|control server|unwanted software|\|pu[ap]\||info stealer|dropper|malicious (?:document|file|macro)`,
    ],
    [
      'intrusion',
      String.raw`intrusion|exploit|attack|attempted|\brecon(?:naissance)?\b|discovery|lateral movement|privilege esc|credential access|credential dump|persistence|defen[sc]e evasion|execution|initial access|impact|unauthorized access|injection|web shell|shell|scan(?!d)|stealth|pen test|suspicious|known bad|power shell|child process|dump|tamper|elevat`,
    ],
    [
      'policy_violation',
      'software and configuration checks|compliance|polic|configuration|can be read by',
    ],
  ] as const
).map(([type, words]) => [type, new RegExp(words.replaceAll(' ', '-?'))] as const);

const MOST_WORDS = 10;
/** Bounds the time per word. Names of rules are shorter. */
const LOOKED_AT = 200;

/** Returns the type of the first entry of type_mapping that occurs in a word. */
function mappedType(words: readonly string[], mapping: TypeMapping): string | undefined {
  const normal = words.map(normalWord);
  return Object.entries(mapping).find(([key]) =>
    normal.some((word) => word.includes(normalWord(key))),
  )?.[1];
}

function vocabularyType(words: readonly string[]): KnownIncidentType | undefined {
  const all = `|${words.map((word) => spacedWord(word.slice(0, LOOKED_AT))).join('|')}|`;
  return VOCABULARY.find(([, pattern]) => pattern.test(all))?.[0];
}

/** Small letters, with hyphens between words: `SSHBruteForce` is `ssh-brute-force`. */
function spacedWord(word: string): string {
  return word
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/**
 * Type of the incident: type_mapping of the source, a word that is a type, the vocabulary, the type of the source, the usual type. If the
 * source fixes its type, no word counts.
 */
export function typeOf(
  { type, words = [], mappedWords = [], usualType }: Omit<Alert, 'event'>,
  rules: Pick<ReadingRules, 'incident_type' | 'type_mapping' | 'incident_type_fixed'>,
): string {
  const { incident_type, type_mapping = {}, incident_type_fixed } = rules;
  if (incident_type_fixed) return incident_type ?? usualType;
  const few = words.slice(0, MOST_WORDS);
  const said = type === undefined ? few : [type, ...few];
  return (
    mappedType([...said, ...mappedWords.filter((word) => word !== undefined)], type_mapping) ??
    said.map((word) => knownType(word)).find((known) => known !== undefined) ??
    vocabularyType(few) ??
    incident_type ??
    usualType
  );
}

const MOST_ENTRIES = 100;
const LONGEST_KEY = 64;

/** Problems of a type_mapping that an administrator gives. `field` is its path in the request. */
export function typeMappingProblems(mapping: TypeMapping, field = 'type_mapping'): FieldError[] {
  const entries: (readonly [string, unknown])[] = Object.entries(mapping);
  if (entries.length > MOST_ENTRIES) return [tooManyEntries(field)];
  return entries.flatMap(([key, type]) => {
    const at = `${field}.${shownName(key)}`;
    if (normalWord(key) === '' || key.length > LONGEST_KEY) return [badKey(at)];
    if (typeof type === 'string' && INCIDENT_TYPE.test(type)) return [];
    const message = `${at} must be an incident type: small letters, digits and underscores.`;
    return [{ field: at, code: 'matches', message }];
  });
}

function tooManyEntries(field: string): FieldError {
  return { field, code: 'size', message: `${field} must have at most ${MOST_ENTRIES} entries.` };
}

function badKey(field: string): FieldError {
  const message = `Keys of a mapping of words must have 1 to ${LONGEST_KEY} characters.`;
  return { field, code: 'length', message };
}

/** Numbers with signs between them are neither a word nor a range. */
const LIKE_A_RANGE = /^[\s\d.,<>=–…+-]*\d[\s\d.,<>=–…+-]*$/;

/** Problems of a severity_mapping that an administrator gives. `field` is its path in the request. */
export function severityMappingProblems(
  mapping: unknown,
  field = 'severity_mapping',
): FieldError[] {
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping)) {
    return [{ field, code: 'is_json_object', message: `${field} must be an object.` }];
  }
  const entries: (readonly [string, unknown])[] = Object.entries(mapping);
  if (entries.length > MOST_ENTRIES) return [tooManyEntries(field)];
  return entries.flatMap(([key, value]) => entryProblems(`${field}.${key}`, key, value));
}

function entryProblems(field: string, key: string, value: unknown): FieldError[] {
  const problems: FieldError[] = [];
  const range = numberRange(key);
  if (key.trim() === '' || key.length > LONGEST_KEY) problems.push(badKey(field));
  if (range ? range.from > range.to : LIKE_A_RANGE.test(key)) {
    const message = `${field} must be a word, a number, or a range such as 0-39 or 80-.`;
    problems.push({ field, code: 'matches', message });
  }
  if (!SEVERITIES.some((severity) => severity === value)) {
    const message = `${field} must be one of: ${SEVERITIES.join(', ')}.`;
    problems.push({ field, code: 'is_in', message });
  }
  return problems;
}

const NUMBER = String.raw`\d{1,20}(?:\.\d{1,20})?`;
const RANGE = new RegExp(`^(${NUMBER})(?:\\s*(-)\\s*(${NUMBER})?)?$`);

/** Reads `0-39`, `1.5-2`, `80-` (no upper end) or `7` (that number alone). Both ends belong to the range. */
export function numberRange(text: string): { from: number; to: number } | undefined {
  const match = RANGE.exec(text.trim());
  if (!match) return undefined;
  const [, from, dash, to = Infinity] = match;
  return { from: Number(from), to: Number(dash === undefined ? from : to) };
}
