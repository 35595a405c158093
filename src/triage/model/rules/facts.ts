import { atOnce } from '../../../platform/concurrency/semaphore.js';
import { LONGEST_POINTER } from '../../evidence/raw-values.js';
import { isIP } from 'node:net';
import type { Severity } from '../../../incidents/incident.js';
import { fieldsBeside, type IncidentFields } from '../../../incidents/incident-fields.js';
import {
  type AuthenticationResult,
  type MailAuthentication,
  mailAuthentication,
} from '../../evidence/mail-authentication.js';
import { isDecodedJson, isOwnPlace } from '../../evidence/own-places.js';
import { isMailData, isNameOfThing, isOnlyTold, saysNothing } from './prose.js';
import { hasInvisible, wordsOf } from './phrases.js';
import { type Sign, SIGNS } from './signs.js';

export type Scalar = string | number | boolean;

/** One value of the raw data under the name that its tool gave it, or one of the well-known fields. */
export interface Fact {
  /** Absent for a value of the raw data. A value of the incident itself, as its severity, is no evidence. */
  readonly source?: 'fields' | 'incident';
  /** JSON pointer from the root of the raw data, of the fields or of the incident. */
  readonly pointer: string;
  /** The last name of the path in small letters and digits, so that `is_compliant` and `isCompliant` are one name. */
  readonly key: string;
  /** All names from the root, with `/` between them; places in lists are left out. */
  readonly path: string;
  readonly value: Scalar;
  /** Of a fact that a rule found: the part of the value that matched. */
  readonly words?: string;
  /** Of a note in words: however much it says, it is one record. */
  readonly remark?: true;
}

export type Method = 'spf' | 'dkim' | 'dmarc' | 'compauth';

/** Far more than tools send; what is nearest to the root is read first, so that a long list hides nothing above it. */
const MOST_FACTS = 10_000;
const MOST_LEVELS = 64;
const FACTS_OF_A_PIECE = 100;
const CHARACTERS_OF_A_PIECE = 20_000;
/** Reading the name of a fact takes as long as reading so many characters. */
const CHARACTERS_OF_A_FACT = 100;
/** Maximum number of different names that patterns are tried on. Tools use hundreds; the names nearest to the root come first. */
const MOST_NAMES = 2_000;

/** Whether only the tool writes there: nothing else may speak for an event. */
export const isOfTools = ({ path }: Fact): boolean => isOwnPlace(path);

/** Values under these names repeat what a stranger chose: a text, a name, an address, a command, a reason that somebody typed. */
const CHOSEN_BY_OTHERS =
  /(?:subj\w*|objet|betreff|body\w*|text|html|content|comment|preview|snippet|title|names?|file\w*|path|cmd\w*|command\w*|args?|arguments|query|uri|url\w*|links?|agent|ua|referr?er|user|account|host|device|display\w*|from|to|sender|recipients?|reason|justification|description|process|parent|image|child|payload|script|logs?|raw|message|msg|domain|email|address|labels|tags?|macro|page\w*|form\w*|input\w*|original\w*|rule|alert|event|detection|signature|category|action|activity|operation)$/;
const LONGEST_REMARK = 200;
/** A text with a link, a pipe or a path repeats what a stranger wrote. */
const NO_REMARK = /:\/\/|[|`$<>\\]/;

/** What is known of an event beside its raw data. */
export interface Known {
  /** What the event says in well-known words: see incident-fields.ts. */
  readonly fields?: IncidentFields;
  readonly severity?: Severity;
}

/** The values of an event, found by their names. */
export class Facts {
  private readonly byKey = new Map<string, Fact[]>();
  private readonly byPointer = new Map<string, Fact>();
  private readonly bySign = new Map<Sign, Fact[]>();
  private readonly told: Fact[] = [];
  private ofToolsFound?: readonly Fact[];
  private remarksFound?: readonly Fact[];
  /** By the last two names on the way to each fact. */
  private readonly byEnding = new Map<string, Fact[]>();
  readonly withInvisible: Fact[] = [];
  readonly isMail: boolean;

  private constructor(
    readonly all: readonly Fact[],
    /** There was more than is read. */
    readonly cut: boolean,
    readonly fields: IncidentFields,
    readonly severity: Severity | undefined,
    readonly authentication: MailAuthentication,
  ) {
    for (const fact of all) {
      into(this.byKey, fact.key, fact);
      this.byPointer.set(fact.pointer, fact);
    }
    this.isMail = isMailData(this);
  }

  static of(rawData: Readonly<Record<string, unknown>>, known?: Known): Facts {
    return atOnce(Facts.inPieces(rawData, known));
  }

  /** A large event takes tens of milliseconds: it may be interrupted in between. */
  static *inPieces(
    rawData: Readonly<Record<string, unknown>>,
    { fields = {}, severity }: Known = {},
  ): Generator<void, Facts> {
    const beside = yield* scalarsOf(fieldsBeside(rawData, fields));
    const ofFields = beside.facts.map((fact) => ({ ...fact, source: 'fields' }) as const);
    const { facts: ofRawData, lists, rest } = yield* scalarsOf(rawData);
    yield;
    const authentication = mailAuthentication({ ...fields, ...rawData });
    yield;
    const all = [...ofFields, ...ofRawData];
    const facts = new Facts(all, rest, fields, severity, authentication);
    yield;
    yield* facts.readInPieces(lists);
    return facts;
  }

  private *readInPieces(lists: readonly (readonly Fact[])[]): Generator<void> {
    let read = 0;
    for (const fact of this.all) {
      read += typeof fact.value === 'string' ? fact.value.length : 0;
      read += CHARACTERS_OF_A_FACT;
      if (read > CHARACTERS_OF_A_PIECE) {
        yield;
        read = 0;
      }
      const ending = endingOf(fact);
      if (this.byEnding.has(ending) || this.byEnding.size < MOST_NAMES)
        into(this.byEnding, ending, fact);
      if (typeof fact.value !== 'string') continue;
      yield* this.readSigns(fact, fact.value);
      if (hasInvisible(fact.value)) this.withInvisible.push(fact);
    }
    // A command is often a list of its words: what they say together counts for the first of them.
    for (const list of lists) {
      yield;
      yield* this.readSigns(list[0]!, list.map(({ value }) => value).join(' '));
    }
  }

  private *readSigns(fact: Fact, text: string): Generator<void> {
    if (saysNothing(fact)) return;
    const said = wordsOf(text);
    if (text.length > CHARACTERS_OF_A_PIECE) yield;
    for (const [sign, words] of SIGNS.matchesIn(said)) {
      if (isNameOfThing(sign, fact)) continue;
      const found = { ...fact, words };
      if (isOnlyTold(sign, fact, this.isMail)) this.told.push(found);
      else into(this.bySign, sign, found);
    }
  }

  at(pointer: string): Fact | undefined {
    return this.byPointer.get(pointer);
  }

  named(...keys: readonly string[]): readonly Fact[] {
    const found: Fact[] = [];
    for (const key of keys) {
      const facts = this.byKey.get(key);
      if (facts) for (const fact of facts) found.push(fact);
    }
    return found;
  }

  /** Facts with a name like these. */
  namedLike(names: RegExp): readonly Fact[] {
    return [...this.byEnding].flatMap(([ending, facts]) => (fits(names, ending) ? facts : []));
  }

  /** Without what a stranger may have written: the only facts that may speak for an event. */
  get allOfTools(): readonly Fact[] {
    return (this.ofToolsFound ??= this.all.filter(isOfTools));
  }

  /** What a tool or a colleague notes about the event in some words. A list holds what was done or seen, and no notes. */
  get remarks(): readonly Fact[] {
    return (this.remarksFound ??= this.allOfTools.filter(
      ({ source, key, pointer, value }) =>
        source === undefined &&
        typeof value === 'string' &&
        !/\/\d+$/.test(pointer) &&
        value.length <= LONGEST_REMARK &&
        value.includes(' ') &&
        !NO_REMARK.test(value) &&
        !CHOSEN_BY_OTHERS.test(key),
    ));
  }

  /** As `named`, and of tools only. */
  ofTools(...keys: readonly string[]): readonly Fact[] {
    return this.named(...keys).filter(isOfTools);
  }

  saying(...signs: readonly Sign[]): readonly Fact[] {
    return signs.flatMap((sign) => this.bySign.get(sign) ?? []);
  }

  /** The fact that says that a check of the sender ended so, whether a gateway or a header says it. */
  checked(method: Method, ends: readonly AuthenticationResult[]): readonly Fact[] {
    const told = this.authentication[method];
    const fact = told && ends.includes(told.result) ? this.at(told.pointer) : undefined;
    return fact ? [{ ...fact, words: `${method} ${told!.result}` }] : [];
  }

  /** A check that passed by the gateway's own word: a sender can write any header. */
  vouched(method: Method): readonly Fact[] {
    const isOwn = this.authentication[method]?.said_by === 'gateway';
    return isOwn ? this.checked(method, ['pass']).filter(isOfTools) : [];
  }

  /** Texts that speak of an attack and are no trace of one. */
  get onlyTelling(): readonly Fact[] {
    return this.told;
  }
}

const endingOf = ({ key, path }: Fact): string =>
  path.slice(path.lastIndexOf('/', path.length - key.length - 2) + 1);

/** Tools use the same names in each event: each pattern is tried once on each name. */
const fitting = new WeakMap<RegExp, Map<string, boolean>>();
const MOST_REMEMBERED = 2_000;
const LONGEST_REMEMBERED = 80;

/** `change_status` and `change: { status }` are one name. */
function fits(names: RegExp, ending: string): boolean {
  const known = fitting.get(names) ?? new Map<string, boolean>();
  fitting.set(names, known);
  const fit =
    known.get(ending) ??
    (names.test(ending.slice(ending.indexOf('/') + 1)) || names.test(ending.replace('/', '')));
  if (known.size >= MOST_REMEMBERED) known.clear();
  if (ending.length <= LONGEST_REMEMBERED) known.set(ending, fit);
  return fit;
}

function into<K>(map: Map<K, Fact[]>, key: K, fact: Fact): void {
  const known = map.get(key);
  if (known) known.push(fact);
  else map.set(key, [fact]);
}

interface Place {
  readonly value: object;
  readonly pointer: string;
  readonly path: string;
  readonly level: number;
}

/** Breadth first, and with a list of what is left instead of recursion: depth costs nothing. */
function* scalarsOf(
  root: object,
): Generator<void, { facts: Fact[]; lists: Fact[][]; rest: boolean }> {
  const facts: Fact[] = [];
  const places: Place[] = [{ value: root, pointer: '', path: '', level: 0 }];
  const nameOf = rememberingNames();
  const lists: Fact[][] = [];
  let rest = false;
  for (let at = 0; at < places.length; at += 1) {
    if (at % FACTS_OF_A_PIECE === 0) yield;
    const { value, pointer, path, level } = places[at]!;
    const inList = Array.isArray(value);
    const first = facts.length;
    for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
      if (facts.length >= MOST_FACTS || places.length >= MOST_FACTS)
        return { facts, lists, rest: true };
      // A long key over many values would be as many pointers of its length.
      if (pointer.length + key.length >= LONGEST_POINTER) {
        rest = true;
        continue;
      }
      const here = {
        pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        path: inList
          ? path
          : `${path && `${path}/`}${isDecodedJson(key, value) ? 'decoded' : nameOf(key)}`,
      };
      if (typeof inner === 'object' && inner !== null) {
        if (level < MOST_LEVELS) places.push({ ...here, value: inner, level: level + 1 });
        else rest = true;
      } else if (isScalar(inner)) {
        facts.push({ ...here, key: here.path.slice(here.path.lastIndexOf('/') + 1), value: inner });
      }
    }
    if (inList && facts.length > first + 1) lists.push(facts.slice(first));
  }
  return { facts, lists, rest };
}

const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** Without the zone that an address of IPv6 may end with, which is any text. */
const isAddress = (key: string): boolean => /^[\da-f.:]{2,45}$/i.test(key) && isIP(key) !== 0;

/** Some tools write the whole way as one name with dots (`process.code_signature.trusted`). An address is one name. */
function rememberingNames(): (key: string) => string {
  const known = new Map<string, string>();
  return (key) => {
    let name = known.get(key);
    if (name === undefined) {
      name = isAddress(key) ? key.toLowerCase() : plainPath(key);
      known.set(key, name);
    }
    return name;
  };
}

/** A name without letters is a name, too: what is below it must not look as if it stood at the root. */
function plainPath(key: string): string {
  const letters = key
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]/gu, '');
  return letters.replaceAll('.', '/') || '_';
}
