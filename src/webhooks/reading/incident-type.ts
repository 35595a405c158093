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
 * What words of tools' categories, tactics and rules mean, the most telling first: a ransomware that spreads by phishing is
 * ransomware. Each is looked for in the normal forms of all words, with `|` before and behind each.
 */
const VOCABULARY: readonly (readonly [KnownIncidentType, RegExp])[] = [
  ['ransomware', /ransom|dataencryptedforimpact|inhibitsystemrecovery|shadowcop/],
  [
    'account_takeover',
    /accounttakeover|compromised(?:account|user|identity)|accountcompromise|(?:inbox|mailbox|mailforwarding|forwarding)rule|inbox(?:forwarding|manipulation)|followedbyasuccess|fail\w*(?:then|followed)\w*(?:success|worked)|success\w*manyfail|stolencredential|leakedcredential|credentialexfiltration/,
  ],
  [
    'brute_force',
    /bruteforce|passwordspray|credentialstuffing|passwordguess|(?:many|multiple|toomany|repeated)(?:failed|authenticationfail|log[io]n?fail)|(?:login|logon|authentication)failures|triesmanypasswords/,
  ],
  ['bec', /businessemailcompromise|\|bec\||impost[eo]r|impersonation|ceofraud/],
  ['phishing', /phish|mailreportedby|emailreported/],
  ['spam', /\|spam/],
  ['data_exfiltration', /exfiltrat|dataloss|dataleak|\|dlp\|/],
  [
    'suspicious_login',
    /impossibletravel|atypicaltravel|unusualtravel|sign-?in|log[io]n|usersession|anonymousip|mfafatigue|authentication(?:failed|failure|success)/,
  ],
  [
    'malware',
    /malware|trojan|backdoor|virus|\bworm|rootkit|spyware|adware|crypto(?:currency|min)|coinmin|miner|botnet|commandandcontrol|controlserver|unwantedsoftware|\|pu[ap]\||infostealer|dropper|malicious(?:document|file|macro)/,
  ],
  [
    'intrusion',
    /intrusion|exploit|attack|attempted|recon|discovery|lateralmovement|privilegeesc|credentialaccess|credentialdump|persistence|defen[sc]eevasion|execution|initialaccess|impact|unauthorizedaccess|injection|webshell|shell|scan|stealth|pentest|suspicious|knownbad|powershell|childprocess|dump|tamper|elevat/,
  ],
  ['policy_violation', /softwareandconfigurationchecks|compliance|polic|configuration|canbereadby/],
];

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
  const normal = words.map((word) =>
    normalWord(word.slice(0, LOOKED_AT)).replace(/[^a-z0-9]/g, ''),
  );
  const all = `|${normal.join('|')}|`;
  return VOCABULARY.find(([, pattern]) => pattern.test(all))?.[0];
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
