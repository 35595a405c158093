import { parsePointer } from '../../platform/json-pointer.js';
import { isOwnPlace } from './own-places.js';
import { isText, plainName, type RawText, type RawValue, rawValues } from './raw-values.js';

/** Methods of RFC 8601, and Microsoft's `compauth`. */
const METHODS = ['spf', 'dkim', 'dmarc', 'compauth'] as const;
type Method = (typeof METHODS)[number];

/** https://www.iana.org/assignments/email-auth; `softpass` and `bestguesspass` are Microsoft's. */
const RESULTS = [
  'none',
  'neutral',
  'pass',
  'fail',
  'softfail',
  'policy',
  'temperror',
  'permerror',
  'softpass',
  'bestguesspass',
] as const;
export type AuthenticationResult = (typeof RESULTS)[number];

export interface MethodResult {
  readonly result: AuthenticationResult;
  /**
   * `gateway`: a field of the tool. `header`: the head of the mail, or another place where strangers may write. There a
   * result is reliable only if the gateway removes the headers of senders.
   */
  readonly said_by: 'gateway' | 'header';
  readonly pointer: string;
}

/** Results of a mail gateway about the sender of a mail. */
export interface MailAuthentication extends Partial<Record<Method, MethodResult>> {
  /** Address of the sender that the reader sees. */
  readonly from?: string;
  /** Pointers to all fields that were read, with the addresses. */
  readonly pointers: readonly string[];
}

interface Said {
  readonly method: Method;
  readonly result: AuthenticationResult;
}
type Told = Said & MethodResult;

/** Limits for hostile data, for each kind of place, so that no kind uses the room of another. */
const MOST_RESULTS = 1_000;
const MOST_CHARACTERS = 131_072;
const LONGEST_HEADER = 16_384;

/** Where a result stands: in a field of the tool, in the head of the mail, or where strangers may write. */
type Place = 'gateway' | 'head' | 'elsewhere';

function placeOf({ path }: RawValue): Place {
  if (path.split('/').some((name) => HEADS.has(name))) return 'head';
  return isOwnPlace(path) ? 'gateway' : 'elsewhere';
}

/** Reads results of SPF, DKIM and DMARC from raw data of any shape: fields of a gateway, and headers of the mail. */
export function mailAuthentication(rawData: unknown): MailAuthentication {
  const { values } = rawValues(rawData);
  const fields = values.filter(isText);
  const texts = [...fields, ...writtenHeaders(fields)];
  const reading = new Reading();
  const told = reading.fields(values);
  const headers = texts.filter(({ name }) => name === 'authenticationresults');
  const [ofStrangers, ofServers] = [true, false].map((wanted) =>
    headers.filter((header) => (placeOf(header) === 'elsewhere') === wanted),
  ) as [RawText[], RawText[]];
  // From the most reliable place to the least.
  const sources = [
    told.gateway,
    // Each server adds its header above the others. The sender may have written any header below the topmost.
    ofServers.slice(0, 1).flatMap(reading.header),
    told.head,
    texts.flatMap(receivedSpf).slice(0, MOST_RESULTS),
  ];
  const doubtful = [
    ...told.elsewhere,
    ...ofStrangers.slice(0, MOST_RESULTS).flatMap(reading.header),
  ];
  const used = METHODS.map((method) => {
    const of = (all: readonly Told[]) => all.filter((one) => one.method === method);
    return believed(sources.map(of).find(({ length }) => length > 0) ?? [], of(doubtful));
  });
  const results = used.flatMap(([first, ...more]) => {
    if (!first) return [];
    const { method, ...result } = decisive([first, ...more]);
    return [[method, result] as const];
  });
  const addresses = addressesByName(texts);
  const from = FROM.map((name) => addresses.get(name)).find(Boolean)?.address;
  const read = [...used.flat(), ...addresses.values()];
  return {
    ...Object.fromEntries(results),
    ...(from !== undefined && { from }),
    pointers: [...new Set(read.map(({ pointer }) => pointer))],
  };
}

class Reading {
  private readonly left = {
    gateway: MOST_CHARACTERS,
    head: MOST_CHARACTERS,
    elsewhere: MOST_CHARACTERS,
  };

  fields(values: readonly RawValue[]): Record<Place, Told[]> {
    const results: Record<Place, Told[]> = { gateway: [], head: [], elsewhere: [] };
    for (const value of values) {
      // Some tools write the path of a value as its name: `email.authentication.spf`.
      const [name = '', owner = ''] = value.path.split('/').slice(-2).reverse();
      const ofOwner = RESULT_NAMES.has(name) ? FIELDS.get(owner) : undefined;
      const method = FIELDS.get(value.name) ?? FIELDS.get(name) ?? ofOwner;
      if (!method && !SUMMARIES.has(name)) continue;
      const place = placeOf(value);
      if (results[place].length >= MOST_RESULTS) continue;
      const said = method
        ? resultOf(method, value.value)
        : inSummary(this.take(String(value.value), place));
      const said_by = place === 'gateway' ? 'gateway' : 'header';
      const { pointer } = value;
      results[place].push(...said.map((one) => ({ ...one, said_by, pointer }) as const));
    }
    return results;
  }

  /** A name with hyphens was copied from the mail. A name that the tool chose has none. */
  readonly header = (text: RawText): Told[] => {
    const { pointer, value } = text;
    const place = placeOf(text);
    const isCopied = place !== 'gateway' || /\/authentication-results(?:\/|$)/i.test(pointer);
    const said_by = isCopied ? 'header' : 'gateway';
    return resultsIn(this.take(value, place)).map((one) => ({ ...one, said_by, pointer }));
  };

  private take(text: string, place: Place): string {
    const taken = text.slice(0, Math.min(LONGEST_HEADER, this.left[place]));
    this.left[place] -= taken.length;
    return taken;
  }
}

const hasPassed = ({ result }: Said): boolean => result === 'pass';

/**
 * A stranger may have written a doubtful result, so it can only make things worse: beside other results a doubtful pass does not
 * count, and one failed signature outweighs passed ones.
 */
function believed(told: readonly Told[], doubtful: readonly Told[]): readonly Told[] {
  const against = doubtful.filter((one) => !hasPassed(one));
  if (told.length === 0) return against.length > 0 ? against : doubtful;
  const replaces = told[0]!.method === 'dkim' && told.some(hasPassed) && against.length > 0;
  return replaces ? against : [...told, ...against];
}

/**
 * Of several results the worst counts, because any other may be an attacker's. Of several signatures one that passes is enough, unless
 * the tool saw none at all.
 */
function decisive(results: readonly [Told, ...Told[]]): Told {
  const is = (...wanted: readonly AuthenticationResult[]) =>
    wanted.map((one) => results.find(({ result }) => result === one)).find(Boolean);
  const [first] = results;
  if (first.method === 'dkim') return is('none', 'pass') ?? first;
  return is('fail', 'softfail') ?? results.find((one) => !hasPassed(one)) ?? first;
}

/** Names of fields with the result of a method. */
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
/** Names of fields with all results in one text. */
const SUMMARIES = new Set(
  'authentication authenticationdetails authresults authres auth mailauth'.split(' '),
);

function resultOf(method: Method, value: RawValue['value']): Said[] {
  if (typeof value === 'boolean') return [{ method, result: value ? 'pass' : 'fail' }];
  const result = resultIn(String(value));
  return result ? [{ method, result }] : [];
}

const SPELLINGS: ReadonlyMap<string, AuthenticationResult> = new Map<string, AuthenticationResult>([
  ...RESULTS.map((result) => [result, result] as const),
  ['passed', 'pass'],
  ['failed', 'fail'],
  ['hardfail', 'fail'],
]);

/** Reads the first word, such as `Pass` of `Pass (protection.example.com: ...)`. */
function resultIn(text: string): AuthenticationResult | undefined {
  return SPELLINGS.get(/^\s*([a-z]{1,16})\b/i.exec(text.slice(0, 64))?.[1]?.toLowerCase() ?? '');
}

/** The header before Authentication-Results: https://www.rfc-editor.org/rfc/rfc7208#section-9.1 */
function receivedSpf({ name, value, pointer }: RawText): Told[] {
  const said = name === 'receivedspf' ? resultOf('spf', value) : [];
  return said.map((one) => ({ ...one, said_by: 'header', pointer }));
}

/** Microsoft's `AuthenticationDetails` is JSON in a text. Others write `SPF: fail, DKIM: none`. */
function inSummary(text: string): Said[] {
  const written = text.trimStart().startsWith('{')
    ? Array.from(text.matchAll(/"(\w{3,8})":\s{0,9}"(\w{4,16})"/g), ([, ...pair]) => pair.join('='))
    : [text.replace(/\b(spf|dkim|dmarc|compauth)\s{0,9}:/gi, '$1=')];
  return written.flatMap(resultsIn);
}

const MOST_SEGMENTS = 100;
/** A semicolon separates results; some gateways write a comma or nothing. */
const NEXT_RESULT = /;|[\s,](?=(?:spf|dkim|dmarc|compauth)(?:\/\d)?\s{0,9}=)/i;
/** `spf=pass smtp.mailfrom=example.com`. A version may follow the method: `dkim/1=pass`. */
const RESULT = /^\s*([a-z]+)(?:\/\d+)?\s*=(.*)/is;

/** Reads the value of an Authentication-Results header (RFC 8601), without the parts that are not readable. */
function resultsIn(header: string): Said[] {
  const segments = withoutComments(header).split(NEXT_RESULT, MOST_SEGMENTS);
  return segments.flatMap((segment) => {
    const [, name, rest = ''] = RESULT.exec(segment) ?? [];
    const method = METHODS.find((known) => known === name?.toLowerCase());
    return method ? resultOf(method, rest) : [];
  });
}

/**
 * Removes comments, which may be nested, and separators in quoted text, so that neither looks like a further result. An
 * unclosed comment or quote ends with the header.
 */
function withoutComments(text: string): string {
  let depth = 0;
  let isQuoted = false;
  let isEscaped = false;
  let kept = '';
  for (const character of text) {
    if (isEscaped) isEscaped = false;
    else if (character === '\\') isEscaped = true;
    else if (character === '"' && depth === 0) isQuoted = !isQuoted;
    else if (isQuoted) kept += /[\s;=()]/.test(character) ? '_' : character;
    else if (character === '(') depth += 1;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) kept += character;
  }
  return kept;
}

/** Names of the address of the sender. The first that is present counts. */
const FROM = 'from headerfrom p2sender fromaddress senderfromaddress sender senderaddress'.split(
  ' ',
);
const ADDRESSES = new Set([
  ...FROM,
  ...'envelopefrom returnpath p1sender sendermailfromaddress mailfrom smtpmailfrom'.split(' '),
  ...['replyto', 'replytoaddress'],
]);

interface Found {
  readonly address: string;
  readonly pointer: string;
}

function addressesByName(texts: readonly RawText[]): ReadonlyMap<string, Found> {
  const found = new Map<string, Found>();
  for (const text of texts) {
    const name = nameOfAddress(text);
    const address = ADDRESSES.has(name) && !found.has(name) ? addressIn(text.value) : undefined;
    if (address !== undefined) found.set(name, { address, pointer: text.pointer });
  }
  return found;
}

/** `from` of `{"from": {"emailAddress": {"address": ...}}}` (Microsoft Graph) and of `{"from": {"email": ...}}`. */
function nameOfAddress({ name, owner, pointer }: RawText): string {
  if (name !== 'address' && name !== 'email') return name;
  return owner === 'emailaddress' ? plainName(parsePointer(pointer)?.at(-3) ?? '') : owner;
}

/** RFC 5322 limits a line to 998 characters. */
const LONGEST_LINE = 998;

function addressIn(text: string): string | undefined {
  if (text.length > LONGEST_LINE) return undefined;
  const from = text.lastIndexOf('<');
  const to = text.indexOf('>', from);
  const address = (from < 0 || to < 0 ? text : text.slice(from + 1, to)).trim().toLowerCase();
  return /^[^\s@]+@[^\s@]+$/.test(address) ? address : undefined;
}

/** Names of fields with the head of a mail, or with the whole mail. */
const HEADS = new Set(
  (
    'head header headers rawheaders fullheaders mailheaders emailheaders messageheaders internetheaders ' +
    'internetmessageheaders originalheaders mimeheaders rawmessage rawmail rawemail eml mime'
  ).split(' '),
);
const WANTED = new Set(['authenticationresults', 'receivedspf', 'from', 'returnpath', 'replyto']);
const MOST_LINES = 1_000;
const LONGEST_HEAD = 131_072;

type Line = { -readonly [K in keyof RawText]: RawText[K] };

/**
 * Reads headers from text as if each were a field: a head in one text, or a list of lines. Headers in an object or in a list of
 * `{name, value}` are fields already.
 */
function writtenHeaders(texts: readonly RawText[]): readonly RawText[] {
  const inHeads = texts.filter(({ name }) => HEADS.has(name));
  const heads = Map.groupBy(inHeads, ({ pointer }) => pointer.replace(/\/\d+$/, ''));
  return [...heads.values()].slice(0, MOST_RESULTS).flatMap((head) =>
    linesOf(head).flatMap((line) => {
      const colon = line.value.indexOf(':');
      const name = plainName(line.value.slice(0, Math.max(0, colon)));
      const header = { ...line, name, owner: 'headers', value: line.value.slice(colon + 1).trim() };
      return WANTED.has(name) ? [header] : [];
    }),
  );
}

/** A line that begins with a blank continues the header before it. The text of the mail begins after the first blank line. */
function linesOf(head: readonly RawText[]): Line[] {
  const lines: Line[] = [];
  let charactersLeft = LONGEST_HEAD;
  let linesLeft = MOST_LINES;
  for (const text of head.slice(0, MOST_LINES)) {
    const written = text.value.slice(0, charactersLeft).replace(/\r?\n$/, '');
    charactersLeft -= written.length;
    for (const line of written.split(/\r?\n/, MOST_LINES)) {
      const last = lines.at(-1);
      if (linesLeft === 0 || (line === '' && last)) return lines;
      linesLeft -= 1;
      if (last && /^[ \t]/.test(line)) last.value += line;
      else lines.push({ ...text, value: line });
    }
  }
  return lines;
}
