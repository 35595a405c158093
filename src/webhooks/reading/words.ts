import { KNOWN_INCIDENT_TYPES, type Severity } from '../../incidents/incident.js';
import { shownName } from '../../platform/text.js';
import type { ReadingRules, SeverityMapping } from '../sources/webhook-source.entity.js';
import type { Json } from './event-json.js';

export interface Alert {
  readonly event: Json;
  readonly eventId?: string;
  readonly title?: string;
  /** Category, tactic and rule name of the event, as the tool wrote them. */
  readonly words?: readonly string[];
  /** Type words of the format. If present, the general vocabulary is not used. */
  readonly types?: Translations;
  readonly usualType: string;
  readonly severity?: SaidSeverity;
  readonly lift?: Readonly<Record<string, string>>;
}

/** `said` is the word in the event, such as `High` or `72`. `number` is for the ranges in severity_mapping. */
type SaidSeverity = Readonly<{ said: string; number?: number; scale?: SeverityMapping }>;

const USUAL_WORDS: SeverityMapping = {
  informational: 'low',
  info: 'low',
  low: 'low',
  medium: 'medium',
  moderate: 'medium',
  high: 'high',
  critical: 'critical',
  severe: 'critical',
};

export function severityOf(
  said: SaidSeverity | undefined,
  mapping: SeverityMapping = {},
): { readonly severity: Severity; readonly unknownWord?: string } {
  if (!said) return { severity: 'medium' };
  for (const words of [mapping, USUAL_WORDS, said.scale ?? {}]) {
    const severity = mappedSeverity(said, Object.entries(words));
    if (severity) return { severity };
  }
  return { severity: 'medium', unknownWord: shownName(said.said) };
}

function mappedSeverity(
  { said, number = numberIn(said) }: SaidSeverity,
  entries: readonly (readonly [string, Severity])[],
): Severity | undefined {
  const word = said.trim().toLowerCase();
  const byWord = entries.find(([key]) => key.trim().toLowerCase() === word);
  if (byWord || number === undefined) return byWord?.[1];
  const rangeWith = (value: number) =>
    entries.find(([key]) => {
      const range = numberRange(key);
      return range && range.from <= value && value <= range.to;
    })?.[1];
  // A number between two ranges counts for the lower range: with 0-39 and 40-59, 39.5 counts as 39.
  return rangeWith(number) ?? rangeWith(Math.floor(number));
}

export function numberIn(text = ''): number | undefined {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

export type Translations = ReadonlyMap<string, string>;

const KNOWN: Translations = new Map(KNOWN_INCIDENT_TYPES.map((type) => [normalWord(type), type]));

export function knownType(word = '', translations?: Translations): string | undefined {
  return KNOWN.get(normalWord(word)) ?? translations?.get(normalWord(word));
}

function normalWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

/** Incident types by words of tools. The first match wins. A space also matches a hyphen, a case change or nothing. */
const VOCABULARY = Object.entries({
  ransomware: String.raw`ransom|data encrypted for impact|inhibit system recovery|shadow cop`,
  account_takeover: String.raw`account takeover|compromised (?:account|user|identity)|account compromise|(?:inbox|mailbox|mail forwarding|forwarding) rule|inbox (?:forwarding|manipulation)|followed by a success|fail[\w-]*(?:then|followed)[\w-]*(?:success|worked)|success[\w-]*many fail|stolen credential|leaked credential|credential exfiltration`,
  brute_force: String.raw`brute force|password spray|credential stuffing|password guess|(?:many|multiple|too many|repeated) (?:failed|authentication fail|log [io]n fail)|(?:login|logon|authentication) failures|tries many passwords`,
  bec: String.raw`business email compromise|\|bec\||impost[eo]r|impersonation|ceo fraud`,
  phishing: String.raw`phish|mail reported by|email reported`,
  spam: String.raw`\|spam`,
  data_exfiltration: String.raw`exfiltrat|data loss|data leak|\|dlp\|`,
  suspicious_login: String.raw`impossible travel|atypical travel|unusual travel|\bsign in(?:s|logs)?\b|\blog[io]n|\blog-[io]n\b|user session|anonymous ip|mfa fatigue|authentication (?:failed|failure|success)`,
  malware: String.raw`malware|trojan|backdoor|\bvirus|\bworm|rootkit|spyware|adware|crypto (?:currency|min)|coin min|\bminer|botnet|command and control|control server|unwanted software|\|pu[ap]\||info stealer|dropper|malicious (?:document|file|macro)`,
  intrusion: String.raw`intrusion|exploit|attack|attempted|\brecon(?:naissance)?\b|discovery|lateral movement|privilege esc|credential access|credential dump|persistence|defen[sc]e evasion|execution|initial access|impact|unauthorized access|injection|web shell|shell|scan(?!d)|stealth|pen test|suspicious|known bad|power shell|child process|dump|tamper|elevat`,
  policy_violation:
    'software and configuration checks|compliance|polic|configuration|can be read by',
}).map(([type, words]) => [type, new RegExp(words.replaceAll(' ', '-?'))] as const);

/** Maximum length of a word that is searched, which limits the time. Rule names are shorter. */
const LOOKED_AT = 200;

function vocabularyType(words: readonly string[]): string | undefined {
  const all = `|${words.map((word) => spacedWord(word.slice(0, LOOKED_AT))).join('|')}|`;
  return VOCABULARY.find(([, pattern]) => pattern.test(all))?.[0];
}

/** Converts a word to small letters with hyphens between its parts: `SSHBruteForce` becomes `ssh-brute-force`. */
function spacedWord(word: string): string {
  return word
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Returns the first of: fixed type, type_mapping, word that is a type, vocabulary, type of the source, usual type. */
export function typeOf(
  { words = [], types, usualType }: Omit<Alert, 'event'>,
  rules: Pick<ReadingRules, 'incident_type' | 'type_mapping' | 'incident_type_fixed'>,
): string {
  const { incident_type, type_mapping = {}, incident_type_fixed } = rules;
  if (incident_type_fixed) return incident_type ?? usualType;
  const mapped = Object.entries(type_mapping).find(([key]) =>
    words.some((word) => normalWord(word).includes(normalWord(key))),
  );
  const parts = types ? words.flatMap((word) => word.split('/')) : words;
  return (
    mapped?.[1] ??
    parts.map((word) => knownType(word, types)).find((known) => known !== undefined) ??
    (types ? undefined : vocabularyType(words)) ??
    incident_type ??
    usualType
  );
}

const NUMBER = String.raw`\d{1,20}(?:\.\d{1,20})?`;
export const RANGE = new RegExp(`^(${NUMBER})(?:\\s*(-)\\s*(${NUMBER})?)?$`);

/** Parses a range: `0-39`, `1.5-2`, `80-` (no upper end) or `7` (only this number). A range includes both ends. */
export function numberRange(text: string): { from: number; to: number } | undefined {
  const match = RANGE.exec(text.trim());
  if (!match) return undefined;
  const [, from, dash, to = Infinity] = match;
  return { from: Number(from), to: Number(dash === undefined ? from : to) };
}
