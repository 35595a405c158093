import { type RawValue, rawValuesInPieces } from '../../evidence/raw-values.js';
import type { Severity } from '../../../incidents/incident.js';
import { fieldsBeside, type IncidentFields } from '../../../incidents/incident-fields.js';
import type { TriageCase } from '../triage-model.port.js';
import {
  type AuthenticationResult,
  type MailAuthentication,
  mailAuthentication,
  type Method,
} from '../../evidence/mail-authentication.js';
import { isInMail, isOwnPlace } from '../../evidence/own-places.js';
import { INVISIBLE, wordsOf } from './phrases.js';
import { ACCOUNT_SIGNS, ENDPOINT_SIGNS, type Sign, SIGNS, WEB_SIGNS } from './signs.js';

/** One value of the raw data under the name that its tool gave it, or a well-known field. */
export interface Fact {
  /** Absent for a value of the raw data. `incident`: a value such as the severity, which is no evidence. */
  readonly source?: 'fields' | 'incident';
  /** JSON pointer from the root of the raw data, of the fields or of the incident. */
  readonly pointer: string;
  /** Last name of the path in small letters and digits, so that `is_compliant` and `isCompliant` have the same key. */
  readonly key: string;
  /** All names from the root, joined by `/`, without list indexes. */
  readonly path: string;
  readonly value: RawValue['value'];
  /** Part of the value that matched. Only for a fact that a rule found. */
  readonly words?: string;
}

const SUBJECT_KEYS = 'subject subj objet betreff onderwerp oggetto asunto'.split(' ');
export const TEXT_KEYS = (
  'body bodytext bodyhtml bodyplain bodypreview preview snippet excerpt ' +
  'text texts textbody html htmlbody content corps comment'
).split(' ');
/** Keys of texts that people write, in which `virus` may mean the flu. */
export const MESSAGES: ReadonlySet<string> = new Set([...SUBJECT_KEYS, ...TEXT_KEYS]);
const MAIL_IDS = ['messageid', 'internetmessageid'];
const ADDRESS_KEYS = ['sender', 'from', 'fromaddress', 'mailfrom', 'senderaddress'];

const CHARACTERS_OF_A_PIECE = 20_000;
/** Cost of the name of a fact, in characters that can be read in the same time. */
const CHARACTERS_OF_A_FACT = 100;
/** Maximum different names that are compared with patterns. Tools use hundreds. Names near the root come first. */
const MOST_NAMES = 2_000;
/** Cost of a new name, which is compared with patterns. */
const CHARACTERS_OF_A_NAME = 400;

/** True if only the tool writes at this place. A fact at any other place must not count in favour of an event. */
export const isOfTools = ({ path }: Fact): boolean => isOwnPlace(path);

export class Facts {
  private readonly byKey: ReadonlyMap<string, readonly Fact[]>;
  private readonly byPointer: ReadonlyMap<string, Fact>;
  private readonly bySign = new Map<Sign, Fact[]>();
  private readonly byPattern = new Map<RegExp, Fact[]>();
  readonly withInvisible: Fact[] = [];
  /** True for a mail. Names of mails count only at places of tools or in mail objects: requests may use them too. */
  readonly isMail: boolean;

  private constructor(
    readonly all: readonly Fact[],
    readonly cut: boolean,
    readonly fields: IncidentFields,
    readonly severity: Severity | undefined,
    readonly authentication: MailAuthentication,
  ) {
    this.byKey = Map.groupBy(all, ({ key }) => key);
    this.byPointer = new Map(all.map((fact) => [fact.pointer, fact]));
    this.isMail = [
      ...authentication.pointers.flatMap((pointer) => this.at(pointer) ?? []),
      ...this.named(...MAIL_IDS).filter(({ value }) => /[@<]/.test(String(value))),
      ...this.named(...SUBJECT_KEYS),
      ...this.named(...ADDRESS_KEYS).filter(({ value }) => String(value).includes('@')),
    ].some(({ path }) => isOwnPlace(path) || isInMail(path));
  }

  static *inPieces(
    rawData: Readonly<Record<string, unknown>>,
    { fields = {}, severity }: Partial<Pick<TriageCase, 'fields' | 'severity'>> = {},
  ): Generator<void, Facts> {
    const beside = yield* rawValuesInPieces(fieldsBeside(rawData, fields));
    const ofFields = beside.values.map(
      (value) => ({ ...factOf(value), source: 'fields' }) as const,
    );
    const { values, cut } = yield* rawValuesInPieces(rawData);
    const ofRawData = values.map(factOf);
    const lists = Map.groupBy(ofRawData, (_, at) => values[at]!.list);
    lists.delete(undefined);
    yield;
    const authentication = mailAuthentication([...beside.values, ...values]);
    yield;
    const all = [...ofFields, ...ofRawData];
    const facts = new Facts(all, cut.length > 0, fields, severity, authentication);
    yield;
    yield* facts.readInPieces(lists.values());
    return facts;
  }

  private *readInPieces(lists: Iterable<readonly Fact[]>): Generator<void> {
    const byName = new Map<string, readonly RegExp[]>();
    let read = 0;
    for (const fact of this.all) {
      const name = endingOf(fact);
      if (!byName.has(name) && byName.size < MOST_NAMES) {
        byName.set(name, patternsOf(name));
        read += CHARACTERS_OF_A_NAME;
      }
      for (const pattern of byName.get(name) ?? []) into(this.byPattern, pattern, fact);
      read += CHARACTERS_OF_A_FACT + (typeof fact.value === 'string' ? fact.value.length : 0);
      if (read > CHARACTERS_OF_A_PIECE) {
        yield;
        read = 0;
      }
      if (typeof fact.value !== 'string') continue;
      yield* this.readSigns(fact, fact.value);
      if (INVISIBLE.test(fact.value)) this.withInvisible.push(fact);
    }
    // A command is often a list of words. A sign in the joined words counts as found in the first word.
    for (const list of lists) {
      if (list.length < 2) continue;
      yield;
      yield* this.readSigns(list[0]!, list.map(({ value }) => value).join(' '));
    }
  }

  private *readSigns(fact: Fact, text: string): Generator<void> {
    if (SAYS_NOTHING.test(fact.path)) return;
    const said = wordsOf(text);
    if (text.length > CHARACTERS_OF_A_PIECE) yield;
    for (const [sign, words] of SIGNS.matchesIn(said)) {
      if (NAMES.has(sign) && NAMED_THINGS.test(fact.path)) continue;
      if (!isOnlyTold(sign, fact, this.isMail)) into(this.bySign, sign, { ...fact, words });
    }
  }

  at(pointer: string): Fact | undefined {
    return this.byPointer.get(pointer);
  }

  named(...keys: readonly string[]): readonly Fact[] {
    return keys.flatMap((key) => this.byKey.get(key) ?? []);
  }

  /** Returns facts whose names match a pattern that `namePattern` registered. */
  namedLike(names: RegExp): readonly Fact[] {
    return this.byPattern.get(names) ?? [];
  }

  ofTools(...keys: readonly string[]): readonly Fact[] {
    return this.named(...keys).filter(isOfTools);
  }

  saying(...signs: readonly Sign[]): readonly Fact[] {
    return signs.flatMap((sign) => this.bySign.get(sign) ?? []);
  }

  checked(method: Method, ends: readonly AuthenticationResult[]): readonly Fact[] {
    const told = this.authentication[method];
    const fact = told && ends.includes(told.result) ? this.at(told.pointer) : undefined;
    return fact ? [{ ...fact, words: `${method} ${told!.result}` }] : [];
  }

  /** Returns a passed check only if the gateway itself reports it, because a sender can write any header. */
  vouched(method: Method): readonly Fact[] {
    const isOwn = this.authentication[method]?.said_by === 'gateway';
    return isOwn ? this.checked(method, ['pass']).filter(isOfTools) : [];
  }
}

const endingOf = ({ key, path }: Fact): string =>
  path.slice(path.lastIndexOf('/', path.length - key.length - 2) + 1);

const PATTERNS = new Set<RegExp>();
export function namePattern(pattern: RegExp): RegExp {
  PATTERNS.add(pattern);
  return pattern;
}

/** Cache: the patterns that match an ending. Tools send the same names with each event. */
const patternsByEnding = new Map<string, readonly RegExp[]>();
const MOST_KNOWN_ENDINGS = 10_000;
/** Maximum length of an ending. Tools use shorter names, so a longer ending matches no pattern. */
const LONGEST_ENDING = 120;

function patternsOf(ending: string): readonly RegExp[] {
  if (ending.length > LONGEST_ENDING) return [];
  const known = patternsByEnding.get(ending);
  if (known) return known;
  const last = ending.slice(ending.indexOf('/') + 1);
  // `change_status` and `change: { status }` are the same name.
  const joined = ending.replace('/', '');
  const found = [...PATTERNS].filter((names) => names.test(last) || names.test(joined));
  if (patternsByEnding.size >= MOST_KNOWN_ENDINGS) patternsByEnding.clear();
  patternsByEnding.set(ending, found);
  return found;
}

function into<K>(map: Map<K, Fact[]>, key: K, fact: Fact): void {
  const known = map.get(key);
  if (known) known.push(fact);
  else map.set(key, [fact]);
}

function factOf({ pointer, path, name, value }: RawValue): Fact {
  const last = path.slice(path.lastIndexOf('/') + 1);
  // A stranger may have chosen this name, so it is appended to the path, which then is no place of a tool.
  const isNamed = last === 'value' && name !== last;
  return { pointer, path: isNamed ? `${path}/${name}` : path, key: isNamed ? name : last, value };
}

/** Signs of machines and accounts, which mails only mention. Excludes the service desk pretext of frauds in mails. */
const OF_MACHINES: ReadonlySet<string> = new Set(
  Object.keys({ ...ENDPOINT_SIGNS, ...ACCOUNT_SIGNS, ...WEB_SIGNS }).filter(
    (sign) => sign !== 'service_desk_pretext',
  ),
);

/** Signs that are only a name, such as the name of a malware. */
const NAMES: ReadonlySet<string> = new Set(
  'malware_family ransomware_words ransom_note unwanted rat miner beacon loader_family web_attack guessing stuffing'.split(
    ' ',
  ),
);
const TITLE_KEYS = new Set('title event eventname alert alertname summary message'.split(' '));
/** Announcements and tool updates. Matches only the start or the whole text: attackers may have written the rest. */
const ANNOUNCES =
  /^\s{0,9}(?:table-?top|(?:(?:security|awareness|incident|response|phishing|crisis) ){0,2}(?:exercise|drill|training|webinar|advisory|bulletin|newsletter))\b/i;
const REPORTS_UPDATE =
  /^[\p{L}\p{N} .'/-]{0,80}\b(?:signatures?|definitions?|rules?|rule ?sets?|feeds?|database) (?:(?:was|were|has been|have been) )?updated(?: to (?:version )?[\w.-]{1,30})?\.?$/iu;

/** Keys of names that people choose. A person may have the name Ransom, and a town the name Trojan. */
const NAMED_THINGS =
  /(?:^|\/)(?:user|username|userid|userprincipalname|displayname|owner|department|site|company|organi[sz]ation|location|host|hostname|computer|computername|device|devicename|machine|machinename|share|sharename)(?:\/name)?$/;

/** Keys that do not describe this event: object types, attack stages of a rule, and lists that another rule reads. */
const SAYS_NOTHING =
  /(?:^|\/)(?:odata\/type|sensitiveinformation(?:typename|\/\w+)|tactics?(?:\/name)?|tacticid|behaviors|logonlysecuritydata|(?:mitre)?(?:attack)?techniques?(?:\/name|name|id)?)$/;

/** A tool that only suspects: its words describe what an event may be, or what attackers do. */
const SUPPOSES =
  /\b(?:possibl[ey]|potential(?:ly)?|may|might|could|maybe|attackers?|adversar(?:y|ies)|often|can be|used to|or trojaned)\b/i;
const SUPPOSED: ReadonlySet<string> = new Set(
  'malware_family loader_family ransomware_words rat remote_service protection_gap persistence remote_support discovery'.split(
    ' ',
  ),
);
const TOLD_KEYS =
  /(?:title|description|name|alert|alarm|message|msg|summary|signature|reason|log|body)$/;

/** True if a text mentions an attack but is no trace of one: prose in a mail, or the title of an announcement. */
function isOnlyTold(sign: Sign, { key, path, value }: Fact, isMail: boolean): boolean {
  const isProse = MESSAGES.has(key) || /(?:^|\/)body\/(?:html|plain)$/.test(path);
  if (isMail && OF_MACHINES.has(sign) && isProse && !OF_FILES.test(path)) return true;
  const text = String(value).slice(0, 200);
  if (!isMail && TOLD_KEYS.test(key) && SUPPOSED.has(sign) && SUPPOSES.test(text)) return true;
  if (sign === 'grave_word' && key.endsWith('description') && SUPPOSES.test(text)) return true;
  return (
    NAMES.has(sign) && TITLE_KEYS.has(key) && (ANNOUNCES.test(text) || REPORTS_UPDATE.test(text))
  );
}

/** Keys for contents and acts of a file. They are not prose, even if a mail delivered the file. */
const OF_FILES =
  /(?:^|\/)(?:attachments?|files?|extracted\w*|sandbox\w*|behaviou?rs?|process\w*|macros?|scripts?)\//;
