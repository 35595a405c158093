import { LONGEST_POINTER } from '../../evidence/raw-values.js';
import { isIP } from 'node:net';
import type { Severity } from '../../../incidents/incident.js';
import { fieldsBeside, type IncidentFields } from '../../../incidents/incident-fields.js';
import { type MailAuthentication, mailAuthentication } from '../../evidence/mail-authentication.js';
import { isOwnPlace } from '../../evidence/own-places.js';
import type { Fact, Scalar } from './fact.js';
import { isMailData, isNameOfThing, isOnlyTold, saysNothing } from './prose.js';
import { type Sign, SIGNS } from './signs/signs.js';
import { hasInvisible, wordsOf } from './words.js';

/** Far more than tools send; what is nearest to the root is read first, so that a long list hides nothing above it. */
const MOST_FACTS = 10_000;
const MOST_LEVELS = 64;

/** Whether only the tool writes there: nothing else may speak for an event. */
export const isOfTools = ({ path }: Fact): boolean => isOwnPlace(path);

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
  readonly all: readonly Fact[];
  readonly withInvisible: readonly Fact[];
  /** There was more than is read. */
  readonly cut: boolean;
  readonly authentication: MailAuthentication;
  readonly isMail: boolean;
  readonly fields: IncidentFields;
  readonly severity: Severity | undefined;

  constructor(rawData: Readonly<Record<string, unknown>>, { fields = {}, severity }: Known = {}) {
    this.fields = fields;
    this.severity = severity;
    const ofFields = scalarsOf(fieldsBeside(rawData, fields)).facts.map(
      (fact) => ({ ...fact, source: 'fields' }) as const,
    );
    const { facts: ofRawData, lists, rest } = scalarsOf(rawData);
    const facts: Fact[] = [...ofFields, ...ofRawData];
    this.all = facts;
    this.cut = rest;
    for (const fact of facts) {
      into(this.byKey, fact.key, fact);
      this.byPointer.set(fact.pointer, fact);
    }
    this.authentication = mailAuthentication({ ...fields, ...rawData });
    this.isMail = isMailData(this);
    const withInvisible: Fact[] = [];
    for (const fact of facts) {
      if (typeof fact.value !== 'string') continue;
      this.readSigns(fact, fact.value);
      if (hasInvisible(fact.value)) withInvisible.push(fact);
    }
    // A command is often a list of its words: what they say together counts for the first of them.
    for (const list of lists) this.readSigns(list[0]!, list.map(({ value }) => value).join(' '));
    this.withInvisible = withInvisible;
  }

  private readSigns(fact: Fact, text: string): void {
    if (saysNothing(fact)) return;
    for (const [sign, words] of SIGNS.matchesIn(wordsOf(text))) {
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
    return keys.flatMap((key) => this.byKey.get(key) ?? []);
  }

  /** Without what a stranger may have written: the only facts that may speak for an event. */
  get allOfTools(): readonly Fact[] {
    return this.all.filter(isOfTools);
  }

  /** As `named`, and of tools only. */
  ofTools(...keys: readonly string[]): readonly Fact[] {
    return this.named(...keys).filter(isOfTools);
  }

  saying(...signs: readonly Sign[]): readonly Fact[] {
    return signs.flatMap((sign) => this.bySign.get(sign) ?? []);
  }

  /** Texts that speak of an attack and are no trace of one. */
  get onlyTelling(): readonly Fact[] {
    return this.told;
  }
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
function scalarsOf(root: object): { facts: Fact[]; lists: Fact[][]; rest: boolean } {
  const facts: Fact[] = [];
  const places: Place[] = [{ value: root, pointer: '', path: '', level: 0 }];
  const nameOf = rememberingNames();
  const lists: Fact[][] = [];
  let rest = false;
  for (let at = 0; at < places.length; at += 1) {
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
        path: inList ? path : `${path && `${path}/`}${nameOf(key)}`,
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
