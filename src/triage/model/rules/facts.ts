import { atOnce } from '../../../platform/concurrency/semaphore.js';
import { type RawValue, rawValuesInPieces } from '../../evidence/raw-values.js';
import type { Severity } from '../../../incidents/incident.js';
import { fieldsBeside, type IncidentFields } from '../../../incidents/incident-fields.js';
import {
  type AuthenticationResult,
  type MailAuthentication,
  mailAuthentication,
} from '../../evidence/mail-authentication.js';
import { isOwnPlace } from '../../evidence/own-places.js';
import { isMailData, isNameOfThing, isOnlyTold, saysNothing } from './prose.js';
import { hasInvisible, wordsOf } from './phrases.js';
import { type Sign, SIGNS } from './signs.js';

export type Scalar = RawValue['value'];

/** One value of the raw data under the name that its tool gave it, or a well-known field. */
export interface Fact {
  /** Absent for a value of the raw data. A value of the incident itself, such as its severity, is no evidence. */
  readonly source?: 'fields' | 'incident';
  /** JSON pointer from the root of the raw data, of the fields or of the incident. */
  readonly pointer: string;
  /** Last name of the path in small letters and digits, so that `is_compliant` and `isCompliant` are the same name. */
  readonly key: string;
  /** All names from the root, joined by `/`, without list indexes. */
  readonly path: string;
  readonly value: Scalar;
  /** For a fact that a rule found: the part of the value that matched. */
  readonly words?: string;
}

export type Method = 'spf' | 'dkim' | 'dmarc' | 'compauth';

const CHARACTERS_OF_A_PIECE = 20_000;
/** Reading the name of a fact takes as long as reading this number of characters. */
const CHARACTERS_OF_A_FACT = 100;
/** Maximum number of different names that patterns are tried on. Tools use hundreds. Names near the root come first. */
const MOST_NAMES = 2_000;

/** True if only the tool writes at this place. Other facts must not count in favour of an event. */
export const isOfTools = ({ path }: Fact): boolean => isOwnPlace(path);

/** Fields and severity that were already extracted from the event, in addition to its raw data. */
export interface Known {
  /** Well-known fields of the event: see incident-fields.ts. */
  readonly fields?: IncidentFields;
  readonly severity?: Severity;
}

export class Facts {
  private readonly byKey = new Map<string, Fact[]>();
  private readonly byPointer = new Map<string, Fact>();
  private readonly bySign = new Map<Sign, Fact[]>();
  private ofToolsFound?: readonly Fact[];
  /** Facts by the last two names of their path. */
  private readonly byEnding = new Map<string, Fact[]>();
  readonly withInvisible: Fact[] = [];
  readonly isMail: boolean;

  private constructor(
    readonly all: readonly Fact[],
    /** True if the event had more values than are read. */
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

  /** Can be interrupted, because a large event takes tens of milliseconds. */
  static *inPieces(
    rawData: Readonly<Record<string, unknown>>,
    { fields = {}, severity }: Known = {},
  ): Generator<void, Facts> {
    const beside = yield* factsIn(fieldsBeside(rawData, fields));
    const ofFields = beside.facts.map((fact) => ({ ...fact, source: 'fields' }) as const);
    const { facts: ofRawData, lists, isCut } = yield* factsIn(rawData);
    yield;
    const authentication = mailAuthentication({ ...fields, ...rawData });
    yield;
    const all = [...ofFields, ...ofRawData];
    const facts = new Facts(all, isCut, fields, severity, authentication);
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
    // A command is often a list of words. Signs in the joined words count for the first word.
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
      if (!isOnlyTold(sign, fact, this.isMail)) into(this.bySign, sign, { ...fact, words });
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

  /** Returns facts whose names match the pattern. */
  namedLike(names: RegExp): readonly Fact[] {
    return [...this.byEnding].flatMap(([ending, facts]) => (fits(names, ending) ? facts : []));
  }

  /** Facts without values that a stranger may have written. Only these facts may count in favour of an event. */
  get allOfTools(): readonly Fact[] {
    return (this.ofToolsFound ??= this.all.filter(isOfTools));
  }

  /** Like `named`, but only values of tools. */
  ofTools(...keys: readonly string[]): readonly Fact[] {
    return this.named(...keys).filter(isOfTools);
  }

  saying(...signs: readonly Sign[]): readonly Fact[] {
    return signs.flatMap((sign) => this.bySign.get(sign) ?? []);
  }

  /** Returns the fact with this result of a sender check, from a gateway or a header. */
  checked(method: Method, ends: readonly AuthenticationResult[]): readonly Fact[] {
    const told = this.authentication[method];
    const fact = told && ends.includes(told.result) ? this.at(told.pointer) : undefined;
    return fact ? [{ ...fact, words: `${method} ${told!.result}` }] : [];
  }

  /** Returns a passed check that the gateway itself reports, because a sender can write any header. */
  vouched(method: Method): readonly Fact[] {
    const isOwn = this.authentication[method]?.said_by === 'gateway';
    return isOwn ? this.checked(method, ['pass']).filter(isOfTools) : [];
  }
}

const endingOf = ({ key, path }: Fact): string =>
  path.slice(path.lastIndexOf('/', path.length - key.length - 2) + 1);

/** Caches matches of patterns and names, because tools use the same names in each event. */
const fitting = new WeakMap<RegExp, Map<string, boolean>>();
const MOST_REMEMBERED = 2_000;
const LONGEST_REMEMBERED = 80;

/** Treats `change_status` and `change: { status }` as the same name. */
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

interface Read {
  readonly facts: readonly Fact[];
  /** Lists with several values. */
  readonly lists: readonly (readonly Fact[])[];
  readonly isCut: boolean;
}

function* factsIn(root: object): Generator<void, Read> {
  const { values, cut } = yield* rawValuesInPieces(root);
  const facts = values.map(({ pointer, path, name, value, list }) => {
    const last = path.slice(path.lastIndexOf('/') + 1);
    // A stranger may have chosen the name beside a value, so its path is no place of tools.
    const isNamed = last === 'value' && name !== last;
    return {
      pointer,
      path: isNamed ? `${path}/${name}` : path,
      key: isNamed ? name : last,
      value,
      list,
    };
  });
  const lists = Map.groupBy(facts, ({ list }) => list);
  lists.delete(undefined);
  const isLong = ({ length }: readonly Fact[]) => length > 1;
  return { facts, lists: [...lists.values()].filter(isLong), isCut: cut.length > 0 };
}
