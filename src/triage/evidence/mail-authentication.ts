import {
  type AuthenticationResult,
  LONGEST_HEADER,
  METHODS,
  type Method,
  readAuthenticationResults,
  readSummary,
  resultIn,
  type SaidResult,
} from './authentication-results.js';
import {
  addressesByName,
  ENVELOPE,
  firstNamed,
  type Found,
  FROM,
  isSameSite,
  REPLY_TO,
} from './mail-addresses.js';
import { isHead, isInHead, writtenHeaders } from './mail-headers.js';
import { isOwnPointer } from './own-places.js';
import {
  isText,
  plainName,
  type RawText,
  rawTexts,
  type RawValue,
  rawValues,
} from './raw-values.js';

export interface MethodResult {
  readonly result: AuthenticationResult;
  /** Whose domain was checked. */
  readonly domain?: string;
  /**
   * `gateway`: a field of the tool's own. `header`: the head of the mail or another place where strangers may write; there a
   * result is only as good as the gateway that removes what senders write.
   */
  readonly said_by: 'gateway' | 'header';
  /** JSON pointer of the field that says so. */
  readonly pointer: string;
}

/** What the mail gateway found out about the sender of a mail, and the addresses that this is about. */
export interface MailAuthentication {
  readonly spf?: MethodResult;
  /** A mail may have several signatures: one that passes comes first. */
  readonly dkim?: readonly MethodResult[];
  readonly dmarc?: MethodResult;
  readonly compauth?: MethodResult;
  /** The sender that the reader of the mail sees. */
  readonly from?: string;
  readonly envelope_from?: string;
  readonly reply_to?: string;
  /** Whether the sender that the reader sees is one that was authenticated; absent where that is not known. */
  readonly aligned?: boolean;
  /** Every field that was read. */
  readonly pointers: readonly string[];
}

interface Told extends SaidResult {
  readonly said_by: MethodResult['said_by'];
  readonly pointer: string;
}

/** Results that are read of one kind of place. Nobody sends more, and a stranger who does wastes no more time than this. */
const MOST_RESULTS = 1_000;
/** Characters of all texts of a kind of place that are read as lists of results. */
const MOST_CHARACTERS = 131_072;

/** Reads the results of SPF, DKIM and DMARC in raw data of any shape: fields of the gateway's own, or the headers of the mail. */
export function mailAuthentication(rawData: unknown): MailAuthentication {
  const values = rawValues(rawData).values.map(undotted);
  const fields = values.filter(isText);
  const texts = [...fields, ...writtenHeaders(fields)];
  const places = new Places();
  const left = { gateway: MOST_CHARACTERS, head: MOST_CHARACTERS, elsewhere: MOST_CHARACTERS };
  const reading: Reading = { places, left };
  const own = resultsOfFields(values, reading);
  const results = texts.filter(({ name }) => name === 'authenticationresults');
  // From what the gateway itself says to what is only a header of the mail.
  const tellers = [
    own.gateway,
    fromTopmost(
      results.find((text) => places.kindOf(text) !== 'elsewhere'),
      reading,
    ),
    own.head,
    texts.flatMap(fromReceivedSpf).slice(0, MOST_RESULTS),
  ];
  const elsewhere = [
    ...own.elsewhere,
    ...results
      .filter((text) => places.kindOf(text) === 'elsewhere')
      .slice(0, MOST_RESULTS)
      .flatMap((text) => fromTopmost(text, reading)),
  ];
  const resultsBy = new Map(
    METHODS.map((method) => {
      const of = (told: readonly Told[]) => told.filter((result) => result.method === method);
      return [method, believed(tellers.map(of).find(isNotEmpty) ?? [], of(elsewhere))];
    }),
  );
  const by = (method: Method): readonly Told[] => resultsBy.get(method)!;
  const first = (method: Method): MethodResult | undefined => worst(by(method).map(shown));
  const signatures = by('dkim').map(shown).sort(passingFirst);
  const addresses = addressesByName(texts);
  const from = firstNamed(addresses, FROM);
  const envelope = firstNamed(addresses, ENVELOPE) ?? senderOf(by('spf'));
  const replyTo = firstNamed(addresses, REPLY_TO);
  const isAligned = aligned(from?.address, [first('spf'), ...signatures], first('dmarc'));
  const used = [...METHODS.flatMap(by), from, envelope, replyTo].flatMap((one) =>
    one ? [one.pointer] : [],
  );
  return {
    ...present('spf', first('spf')),
    ...present('dkim', signatures.length > 0 ? signatures : undefined),
    ...present('dmarc', first('dmarc')),
    ...present('compauth', first('compauth')),
    ...present('from', from?.address),
    ...present('envelope_from', envelope?.address),
    ...present('reply_to', replyTo?.address),
    ...present('aligned', isAligned),
    pointers: [...new Set(used)],
  };
}

/** Three kinds of places, of which none uses up the room of another. */
type Kind = 'gateway' | 'head' | 'elsewhere';

interface Reading {
  readonly places: Places;
  /** Characters that may still be read as lists of results. */
  readonly left: Record<Kind, number>;
}

function take(text: string, kind: Kind, { left }: Reading): string {
  const taken = text.slice(0, Math.min(LONGEST_HEADER, left[kind]));
  left[kind] -= taken.length;
  return taken;
}

interface Place {
  /** Only a tool writes there. */
  readonly isOwn: boolean;
  readonly isInHead: boolean;
}

/** The first steps of a value's place decide; so all values of one object or list are looked at once. */
class Places {
  private readonly known = new Map<string, Place>();

  at(pointer: string): Place {
    const list = pointer.replace(/\/\d+(?=\/|$)/g, '/0');
    const last = list.lastIndexOf('/') + 1;
    const step = list.slice(last);
    const tells = step === '0' || step.includes('.') || isHead(step);
    const name = tells ? list : `${list.slice(0, last)}_`;
    let place = this.known.get(name);
    if (!place) {
      // At a place that is not looked at a result can only make things worse.
      if (this.known.size >= MOST_RESULTS) return { isOwn: false, isInHead: false };
      place = { isOwn: isOwnPointer(name), isInHead: isInHead(name) };
      this.known.set(name, place);
    }
    return place;
  }

  kindOf({ pointer }: { readonly pointer: string }): Kind {
    const { isOwn, isInHead: inHead } = this.at(pointer);
    return inHead ? 'head' : isOwn ? 'gateway' : 'elsewhere';
  }
}

function resultsOfFields(values: readonly RawValue[], reading: Reading): Record<Kind, Told[]> {
  const results: Record<Kind, Told[]> = { gateway: [], head: [], elsewhere: [] };
  for (const value of values) {
    const method = methodOf(value);
    if (!method && !SUMMARIES.has(value.name)) continue;
    const kind = reading.places.kindOf(value);
    const told = results[kind];
    if (told.length >= MOST_RESULTS) continue;
    const said_by = kind === 'gateway' ? 'gateway' : 'header';
    const said = method
      ? resultOf(method, value.value)
      : isText(value)
        ? summed(take(value.value, kind, reading))
        : [];
    told.push(...said.map((one) => ({ ...one, said_by, pointer: value.pointer }) as const));
  }
  return results;
}

/** Some tools write the whole way to a value as one name: `email.authentication.spf`. */
function undotted(value: RawValue): RawValue {
  const last = value.pointer.slice(value.pointer.lastIndexOf('/') + 1);
  if (!last.includes('.')) return value;
  const steps = last.split('.', MOST_STEPS);
  if (steps.length < 2 || steps.length === MOST_STEPS) return value;
  return { ...value, name: plainName(steps.at(-1)!), owner: plainName(steps.at(-2)!) };
}

const MOST_STEPS = 10;

function isNotEmpty(list: readonly unknown[]): boolean {
  return list.length > 0;
}

function present<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

function shown({ result, domain, said_by, pointer }: Told): MethodResult {
  return { result, ...(domain !== undefined && { domain }), said_by, pointer };
}

/**
 * What is told at a place that a stranger may have made can only make things worse. So there of several signatures it is not enough
 * that one passes, and beside what is told elsewhere nothing that passes counts.
 */
function believed(told: readonly Told[], doubtful: readonly Told[]): Told[] {
  const against = doubtful.filter(({ result }) => result !== 'pass');
  if (told.length === 0) return against.length > 0 ? against : [...doubtful];
  const passed = told.some(({ result }) => result === 'pass');
  return told[0]!.method === 'dkim' && passed && against.length > 0
    ? against
    : [...told, ...against];
}

/** A method that is told of twice has passed only if both say so: the second one may be an attacker's. */
function worst(results: readonly MethodResult[]): MethodResult | undefined {
  const by = (...ends: AuthenticationResult[]) =>
    results.find(({ result }) => ends.includes(result));
  return (
    by('fail') ?? by('softfail') ?? results.find(({ result }) => result !== 'pass') ?? results[0]
  );
}

function passingFirst(one: MethodResult, other: MethodResult): number {
  return Number(other.result === 'pass') - Number(one.result === 'pass');
}

/** How gateways call the result of a method besides its own name. */
const FIELDS: ReadonlyMap<string, Method> = new Map([
  ...METHODS.flatMap((method) =>
    ['', 'result', 'status', 'verdict', 'check', 'pass', 'passed', 'valid'].map(
      (end) => [`${method}${end}`, method] as const,
    ),
  ),
  ['senderpolicyframework', 'spf'],
  ['compositeauthentication', 'compauth'],
]);
const RESULT_NAMES = new Set(['result', 'status', 'verdict', 'value']);
/** Under these names gateways put all that they found out about the sender, as one text. */
const SUMMARIES = new Set([
  'authentication',
  'authenticationdetails',
  'authresults',
  'authres',
  'auth',
  'mailauth',
]);

/** Of `"spf": "pass"`, `"spfVerdict": {"status": "PASS"}` and `"dkim_valid": false`. */
function methodOf({ name, owner }: RawValue): Method | undefined {
  return FIELDS.get(name) ?? (RESULT_NAMES.has(name) ? FIELDS.get(owner) : undefined);
}

function resultOf(method: Method, value: RawValue['value']): SaidResult[] {
  if (typeof value === 'boolean') return [{ method, result: value ? 'pass' : 'fail' }];
  const result = typeof value === 'string' ? resultIn(value) : undefined;
  return result ? [{ method, result }] : [];
}

/** Microsoft's `AuthenticationDetails` is JSON in a text. */
function summed(text: string): readonly SaidResult[] {
  return text.trimStart().startsWith('{') ? inJson(text) : readSummary(text);
}

const LONGEST_JSON = 4_096;

function inJson(text: string): SaidResult[] {
  if (text.length > LONGEST_JSON) return [];
  try {
    return rawTexts(JSON.parse(text)).flatMap(({ name, value }) => {
      const method = FIELDS.get(name);
      return method ? resultOf(method, value) : [];
    });
  } catch {
    return [];
  }
}

/**
 * Every server puts its header above those that came with the mail. So the topmost one is that of the server which received the
 * mail here, and any below it may be the sender's own work: they are not read at all.
 */
function fromTopmost(topmost: RawText | undefined, reading: Reading): Told[] {
  if (!topmost) return [];
  const { value, pointer } = topmost;
  // Written with hyphens, it was copied from the mail; a name of the tool's own has none.
  const kind = reading.places.kindOf(topmost);
  const isCopied = kind !== 'gateway' || /\/authentication-results(?:\/|$)/i.test(pointer);
  const said_by = isCopied ? 'header' : 'gateway';
  const text = take(value, kind, reading);
  return readAuthenticationResults(text).map((told) => ({ ...told, said_by, pointer }));
}

/** The header that is older than Authentication-Results: https://www.rfc-editor.org/rfc/rfc7208#section-9.1 */
function fromReceivedSpf({ name, value, pointer }: RawText): Told[] {
  const result = name === 'receivedspf' ? resultIn(value) : undefined;
  return result ? [{ method: 'spf', result, said_by: 'header', pointer }] : [];
}

function senderOf(results: readonly Told[]): Found | undefined {
  const told = results.find(({ sender }) => sender !== undefined);
  return told && { address: told.sender!, pointer: told.pointer };
}

/** What DMARC says, which is about just this; without it, whether a check passed for the domain of the sender. */
function aligned(
  from: string | undefined,
  checks: readonly (MethodResult | undefined)[],
  dmarc: MethodResult | undefined,
): boolean | undefined {
  if (dmarc?.result === 'pass') return true;
  if (dmarc?.result === 'fail') return false;
  const domain = from?.slice(from.lastIndexOf('@') + 1);
  const about = checks.filter((check) => check?.domain !== undefined);
  if (domain === undefined || about.length === 0) return undefined;
  return about.some((check) => check?.result === 'pass' && isSameSite(check.domain!, domain));
}
