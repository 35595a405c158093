import { INCIDENT_TYPE, KNOWN_INCIDENT_TYPES } from '../../incidents/incident.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import type { ReadingRules, TypeMapping } from '../sources/webhook-source.js';
import type { Alert } from './alert.js';

export type KnownIncidentType = (typeof KNOWN_INCIDENT_TYPES)[number];

/** From words of a vendor, written as normalWord writes them, to incident types. */
export type Translations = ReadonlyMap<string, KnownIncidentType>;

const LONGEST_WORD = 100;

const KNOWN: Translations = new Map(KNOWN_INCIDENT_TYPES.map((type) => [normalWord(type), type]));

/** The known type that the word stands for. Case, spaces, hyphens and underscores do not matter. */
export function knownType(
  word: string | undefined,
  translations?: Translations,
): KnownIncidentType | undefined {
  // Nothing is looked for in what is too long to be a word.
  if (word === undefined || word.length > LONGEST_WORD) return undefined;
  const normal = normalWord(word);
  return KNOWN.get(normal) ?? translations?.get(normal);
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
/** Of a word: no name of a rule is longer, and the time to look through it is bounded. */
const LOOKED_AT = 200;

/** The type that the source's mapping gives to one of the words; its first entry that occurs in one of them counts. */
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

type TypeWords = Pick<Alert, 'type' | 'words' | 'mappedWords' | 'usualType'>;

/**
 * The type of the incident: what the source's mapping says of the event's words, else a word that is a type, else what such
 * words mean elsewhere, else the source's type, else the usual one. Where the source fixes its type, no word counts.
 */
export function typeOf(
  { type, words = [], mappedWords = [], usualType }: TypeWords,
  rules: Partial<Pick<ReadingRules, 'incidentType' | 'typeMapping' | 'incidentTypeFixed'>>,
): string {
  const { incidentType, typeMapping = {}, incidentTypeFixed } = rules;
  if (incidentTypeFixed) return incidentType ?? usualType;
  const said = [...(type === undefined ? [] : [type]), ...words.slice(0, MOST_WORDS)];
  return (
    mappedType([...said, ...mappedWords.filter((word) => word !== undefined)], typeMapping) ??
    said.map((word) => knownType(word)).find((known) => known !== undefined) ??
    vocabularyType(words.slice(0, MOST_WORDS)) ??
    incidentType ??
    usualType
  );
}

const MOST_ENTRIES = 100;
const LONGEST_KEY = 64;

/** What is wrong with the type mapping that an administrator gives. `field` is where it stands in the request. */
export function typeMappingProblems(mapping: TypeMapping, field = 'type_mapping'): FieldError[] {
  const entries: (readonly [string, unknown])[] = Object.entries(mapping);
  if (entries.length > MOST_ENTRIES) {
    const message = `${field} must have at most ${MOST_ENTRIES} entries.`;
    return [{ field, code: 'size', message }];
  }
  return entries.flatMap(([key, type]) => {
    const at = `${field}.${shownName(key)}`;
    if (normalWord(key) === '' || key.length > LONGEST_KEY) {
      const message = `Keys of a type mapping must have 1 to ${LONGEST_KEY} characters.`;
      return [{ field: at, code: 'length', message }];
    }
    if (typeof type === 'string' && INCIDENT_TYPE.test(type)) return [];
    const message = `${at} must be an incident type: small letters, digits and underscores.`;
    return [{ field: at, code: 'matches', message }];
  });
}

function normalWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}
