import {
  type AuthenticationResult,
  METHODS,
  type Method,
  readAuthenticationResults,
  readSummary,
  resultIn,
  type SaidResult,
} from './authentication-results.js';
import { addressIn, ENVELOPE, type Found, FROM, isSameSite, REPLY_TO } from './mail-addresses.js';
import { isInHead, writtenHeaders } from './mail-headers.js';
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

/** Reads the results of SPF, DKIM and DMARC in raw data of any shape: fields of the gateway's own, or the headers of the mail. */
export function mailAuthentication(rawData: unknown): MailAuthentication {
  const values = rawValues(rawData).values.map(undotted);
  const fields = values.filter(isText);
  const texts = [...fields, ...writtenHeaders(fields)];
  const own = values.flatMap(ownFields);
  const results = texts.filter(({ name }) => name === 'authenticationresults');
  // From what the gateway itself says to what is only a header of the mail.
  const tellers = [
    own.filter((told) => told.said_by === 'gateway'),
    fromTopmost(results.filter(isKnownPlace)),
    own.filter(({ pointer }) => isInHead(pointer)),
    texts.flatMap(fromReceivedSpf),
  ];
  const elsewhere = [
    ...own.filter((told) => !isKnownPlace(told)),
    ...results.filter((text) => !isKnownPlace(text)).flatMap((text) => fromTopmost([text])),
  ];
  const by = (method: Method): Told[] => {
    const of = (told: readonly Told[]) => told.filter((result) => result.method === method);
    return believed(tellers.map(of).find(isNotEmpty) ?? [], of(elsewhere));
  };
  const first = (method: Method): MethodResult | undefined => worst(by(method).map(shown));
  const signatures = by('dkim').map(shown).sort(passingFirst);
  const from = addressIn(texts, FROM);
  const envelope = addressIn(texts, ENVELOPE) ?? senderOf(by('spf'));
  const replyTo = addressIn(texts, REPLY_TO);
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

/** Some tools write the whole way to a value as one name: `email.authentication.spf`. */
function undotted(value: RawValue): RawValue {
  const steps = value.pointer.slice(value.pointer.lastIndexOf('/') + 1).split('.', MOST_STEPS);
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

function isKnownPlace({ pointer }: { readonly pointer: string }): boolean {
  return isOwnPointer(pointer) || isInHead(pointer);
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
const SUMMARIES = new Set(['authentication', 'authresults', 'authres', 'auth', 'mailauth']);

/** `"spf": "pass"`, `"spfVerdict": {"status": "PASS"}`, `"dkim_valid": false`, and all of them as one text. */
function ownFields(field: RawValue): Told[] {
  const { name, owner, pointer, value } = field;
  const method = FIELDS.get(name) ?? (RESULT_NAMES.has(name) ? FIELDS.get(owner) : undefined);
  if (!method && !SUMMARIES.has(name) && name !== 'authenticationdetails') return [];
  const said = method ? resultOf(method, value) : isText(field) ? summed(field) : [];
  return said.map((one) => ({
    ...one,
    said_by: isInHead(pointer) || !isOwnPointer(pointer) ? 'header' : 'gateway',
    pointer,
  }));
}

function resultOf(method: Method, value: RawValue['value']): SaidResult[] {
  if (typeof value === 'boolean') return [{ method, result: value ? 'pass' : 'fail' }];
  const result = typeof value === 'string' ? resultIn(value) : undefined;
  return result ? [{ method, result }] : [];
}

/** Microsoft's `AuthenticationDetails` is JSON in a text. */
function summed({ value }: RawText): readonly SaidResult[] {
  return value.trimStart().startsWith('{') ? inJson(value) : readSummary(value);
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
function fromTopmost([topmost]: readonly RawText[]): Told[] {
  if (!topmost) return [];
  const { value, pointer } = topmost;
  // Written with hyphens, it was copied from the mail; a name of the tool's own has none.
  const isCopied =
    isInHead(pointer) ||
    !isOwnPointer(pointer) ||
    /\/authentication-results(?:\/|$)/i.test(pointer);
  const said_by = isCopied ? 'header' : 'gateway';
  return readAuthenticationResults(value).map((told) => ({ ...told, said_by, pointer }));
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
