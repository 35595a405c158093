import {
  type AuthenticationResult,
  headersIn,
  METHODS,
  type Method,
  readAuthenticationResults,
  resultIn,
  type SaidResult,
} from './authentication-results.js';
import { addressIn, ENVELOPE, type Found, FROM, isSameSite, REPLY_TO } from './mail-addresses.js';
import { plainName, type RawText, rawTexts } from './raw-values.js';

export interface MethodResult {
  readonly result: AuthenticationResult;
  /** Whose domain was checked. */
  readonly domain?: string;
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
  readonly pointer: string;
}

/** Reads the results of SPF, DKIM and DMARC in raw data of any shape: fields of the gateway's own, or the headers of the mail. */
export function mailAuthentication(rawData: unknown): MailAuthentication {
  const texts = rawTexts(rawData).flatMap((text) => [text, ...headersOf(text)]);
  // The sender of a mail may have written headers of this kind, too. Those of the gateway are above them, so the first one counts.
  const header = texts.find((text) => text.name === 'authenticationresults');
  // From what the gateway itself says to what is only a header of the mail.
  const tellers = [
    texts.flatMap(ownFields),
    header ? fromHeader(header) : [],
    texts.flatMap(fromReceivedSpf),
  ];
  const by = (method: Method): Told[] =>
    tellers.map((told) => told.filter((result) => result.method === method)).find(isNotEmpty) ?? [];
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

function isNotEmpty(list: readonly unknown[]): boolean {
  return list.length > 0;
}

function present<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

function shown({ result, domain, pointer }: Told): MethodResult {
  return { result, ...(domain !== undefined && { domain }), pointer };
}

/** A method that is told of twice has passed only if both say so: the second one may be an attacker's. */
function worst(results: readonly MethodResult[]): MethodResult | undefined {
  return results.find(({ result }) => result !== 'pass') ?? results[0];
}

function passingFirst(one: MethodResult, other: MethodResult): number {
  return Number(other.result === 'pass') - Number(one.result === 'pass');
}

/** How gateways call the result of a method besides its own name. */
const FIELDS: ReadonlyMap<string, Method> = new Map([
  ...METHODS.flatMap((method) =>
    ['', 'result', 'status', 'verdict'].map((end) => [`${method}${end}`, method] as const),
  ),
  ['senderpolicyframework', 'spf'],
  ['compositeauthentication', 'compauth'],
]);
const RESULT_NAMES = new Set(['result', 'status', 'verdict', 'value']);

/** `"spf": "pass"`, `"spfVerdict": {"status": "PASS"}`; and Microsoft's `AuthenticationDetails`, which is JSON in a text. */
function ownFields(text: RawText): Told[] {
  const { name, owner, pointer, value } = text;
  if (name === 'authenticationdetails') return inJson(value).map((told) => ({ ...told, pointer }));
  const method = FIELDS.get(name) ?? (RESULT_NAMES.has(name) ? FIELDS.get(owner) : undefined);
  const result = method && resultIn(value);
  return result ? [{ method, result, pointer }] : [];
}

const LONGEST_JSON = 4_096;

function inJson(text: string): SaidResult[] {
  if (text.length > LONGEST_JSON) return [];
  try {
    return rawTexts(JSON.parse(text)).flatMap(({ name, value }) => {
      const method = FIELDS.get(name);
      const result = method && resultIn(value);
      return result ? [{ method, result }] : [];
    });
  } catch {
    return [];
  }
}

function fromHeader({ value, pointer }: RawText): Told[] {
  return readAuthenticationResults(value).map((told) => ({ ...told, pointer }));
}

/** The header that is older than Authentication-Results: https://www.rfc-editor.org/rfc/rfc7208#section-9.1 */
function fromReceivedSpf({ name, value, pointer }: RawText): Told[] {
  const result = name === 'receivedspf' ? resultIn(value) : undefined;
  return result ? [{ method: 'spf', result, pointer }] : [];
}

const HEADS = new Set(['headers', 'header', 'rawheaders', 'messageheaders', 'internetheaders']);
const WANTED = ['authentication-results', 'received-spf', 'from', 'return-path', 'reply-to'];

/** The headers that matter, where the head of the mail is one text. */
function headersOf({ name, owner, pointer, value }: RawText): RawText[] {
  if (!HEADS.has(name) || !value.includes('\n')) return [];
  return WANTED.flatMap((header) =>
    headersIn(value, header).map((found) => ({
      name: plainName(header),
      owner,
      pointer,
      value: found,
    })),
  );
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
