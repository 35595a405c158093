import { parsePointer } from '../../platform/json-pointer.js';
import { isOwnPointer } from './own-places.js';
import {
  isText,
  plainName,
  type RawText,
  rawTexts,
  type RawValue,
  rawValues,
} from './raw-values.js';

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
  /** The checked domain. */
  readonly domain?: string;
  /**
   * `gateway`: a field of the tool. `header`: the head of the mail, or another place where strangers may write. There a
   * result is reliable only if the gateway removes the headers of senders.
   */
  readonly said_by: 'gateway' | 'header';
  readonly pointer: string;
}

/** Results of a mail gateway about the sender of a mail, with the addresses. */
export interface MailAuthentication {
  readonly spf?: MethodResult;
  /** One result per signature. Passed signatures come first. */
  readonly dkim?: readonly MethodResult[];
  readonly dmarc?: MethodResult;
  readonly compauth?: MethodResult;
  /** The sender that the reader sees. */
  readonly from?: string;
  readonly envelope_from?: string;
  readonly reply_to?: string;
  /** Whether the visible sender was authenticated; absent if unknown. */
  readonly aligned?: boolean;
  /** Pointers to all fields that were read. */
  readonly pointers: readonly string[];
}

interface Told extends MethodResult {
  readonly method: Method;
  /** Sender of the envelope, if an SPF check names its address. */
  readonly sender?: string;
}

type Said = Omit<Told, 'said_by' | 'pointer'>;

/** Limits for hostile data, for each kind of place, so that no kind uses the room of another. */
const MOST_RESULTS = 1_000;
const MOST_CHARACTERS = 131_072;
const LONGEST_HEADER = 16_384;

/** Where a result stands: in a field of the tool, in the head of the mail, or where strangers may write. */
type Kind = 'gateway' | 'head' | 'elsewhere';

/** Reads results of SPF, DKIM and DMARC from raw data of any shape: fields of a gateway, and headers of the mail. */
export function mailAuthentication(rawData: unknown): MailAuthentication {
  const values = rawValues(rawData).values.map(withOwnName);
  const fields = values.filter(isText);
  const texts = [...fields, ...writtenHeaders(fields)];
  const reading = new Reading();
  const told = reading.fields(values);
  const headers = texts.filter(({ name }) => name === 'authenticationresults');
  const isElsewhere = (text: RawText) => reading.kindOf(text.pointer) === 'elsewhere';
  // From the most reliable place to the least.
  const sources = [
    told.gateway,
    // Each server adds its header above the others. The sender may have written any header below the topmost.
    headers
      .filter((text) => !isElsewhere(text))
      .slice(0, 1)
      .flatMap(reading.header),
    told.head,
    texts.flatMap(receivedSpf).slice(0, MOST_RESULTS),
  ];
  const doubtful = [
    ...told.elsewhere,
    ...headers.filter(isElsewhere).slice(0, MOST_RESULTS).flatMap(reading.header),
  ];
  const by = Object.groupBy(
    METHODS.flatMap((method) => {
      const of = (all: readonly Told[]) => all.filter((one) => one.method === method);
      return believed(sources.map(of).find(({ length }) => length > 0) ?? [], of(doubtful));
    }),
    ({ method }) => method,
  );
  const results = (method: Method) => by[method]?.map(shown) ?? [];
  const [spf, dmarc, compauth] = (['spf', 'dmarc', 'compauth'] as const).map((method) =>
    worst(results(method)),
  );
  const dkim = results('dkim').sort((a, b) => Number(hasPassed(b)) - Number(hasPassed(a)));
  const addresses = addressesByName(texts);
  const first = (names: readonly string[]) => names.flatMap((name) => addresses.get(name) ?? [])[0];
  const from = first(FROM);
  const checked = by.spf?.find(({ sender }) => sender !== undefined);
  const envelope = first(ENVELOPE) ?? (checked && { ...checked, address: checked.sender! });
  const replyTo = first(REPLY_TO);
  const used = [...METHODS.flatMap((method) => by[method] ?? []), from, envelope, replyTo];
  return withoutUndefined({
    spf,
    dkim: dkim.length > 0 ? dkim : undefined,
    dmarc,
    compauth,
    from: from?.address,
    envelope_from: envelope?.address,
    reply_to: replyTo?.address,
    aligned: isAligned(from?.address, [...(spf ? [spf] : []), ...dkim], dmarc),
    pointers: [...new Set(used.flatMap((one) => one?.pointer ?? []))],
  });
}

function withoutUndefined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;
}

class Reading {
  private readonly left = {
    gateway: MOST_CHARACTERS,
    head: MOST_CHARACTERS,
    elsewhere: MOST_CHARACTERS,
  };
  private readonly kinds = new Map<string, Kind>();

  /** A place beyond the limit counts as a place of strangers, where a result can only make things worse. */
  kindOf(pointer: string): Kind {
    const place = pointer.replace(/\/\d+(?=\/|$)/g, '/0');
    const known = this.kinds.get(place);
    if (known || this.kinds.size >= MOST_RESULTS) return known ?? 'elsewhere';
    const kind = isInHead(place) ? 'head' : isOwnPointer(place) ? 'gateway' : 'elsewhere';
    this.kinds.set(place, kind);
    return kind;
  }

  fields(values: readonly RawValue[]): Record<Kind, Told[]> {
    const results: Record<Kind, Told[]> = { gateway: [], head: [], elsewhere: [] };
    for (const value of values) {
      const { name, owner, pointer } = value;
      const method = FIELDS.get(name) ?? (RESULT_NAMES.has(name) ? FIELDS.get(owner) : undefined);
      if (!method && !SUMMARIES.has(name)) continue;
      const kind = this.kindOf(pointer);
      if (results[kind].length >= MOST_RESULTS) continue;
      const said = method ? resultOf(method, value) : this.summary(value, kind);
      const said_by = kind === 'gateway' ? 'gateway' : 'header';
      results[kind].push(...said.map((one) => ({ ...one, said_by, pointer }) as const));
    }
    return results;
  }

  /** A name with hyphens was copied from the mail. A name that the tool chose has none. */
  readonly header = ({ value, pointer }: RawText): Told[] => {
    const kind = this.kindOf(pointer);
    const isCopied = kind !== 'gateway' || /\/authentication-results(?:\/|$)/i.test(pointer);
    const said_by = isCopied ? 'header' : 'gateway';
    return resultsIn(this.take(value, kind)).map((one) => ({ ...one, said_by, pointer }));
  };

  /** Microsoft's `AuthenticationDetails` is JSON in a text. Others write `SPF: fail, DKIM: none`. */
  private summary({ value }: RawValue, kind: Kind): readonly Said[] {
    const text = this.take(String(value), kind);
    if (!text.trimStart().startsWith('{')) {
      return resultsIn(text.replace(/\b(spf|dkim|dmarc|compauth)\s{0,9}:/gi, '$1='));
    }
    try {
      return text.length > LONGEST_JSON
        ? []
        : rawTexts(JSON.parse(text)).flatMap((one) => {
            const method = FIELDS.get(one.name);
            return method ? resultOf(method, one) : [];
          });
    } catch {
      return [];
    }
  }

  private take(text: string, kind: Kind): string {
    const taken = text.slice(0, Math.min(LONGEST_HEADER, this.left[kind]));
    this.left[kind] -= taken.length;
    return taken;
  }
}

const LONGEST_JSON = 4_096;
const MOST_STEPS = 10;

/** Some tools write the path of a value as its name: `email.authentication.spf`. */
function withOwnName(value: RawValue): RawValue {
  const last = value.pointer.slice(value.pointer.lastIndexOf('/') + 1);
  const steps = last.split('.', MOST_STEPS);
  if (steps.length < 2 || steps.length === MOST_STEPS) return value;
  return { ...value, name: plainName(steps.at(-1)!), owner: plainName(steps.at(-2)!) };
}

const hasPassed = ({ result }: MethodResult): boolean => result === 'pass';

function shown({ result, domain, said_by, pointer }: Told): MethodResult {
  return { result, ...(domain !== undefined && { domain }), said_by, pointer };
}

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

/** Of several results of a method the worst counts, because any other may be an attacker's. */
function worst(results: readonly MethodResult[]): MethodResult | undefined {
  const is = (wanted: AuthenticationResult) => results.find(({ result }) => result === wanted);
  return is('fail') ?? is('softfail') ?? results.find((one) => !hasPassed(one)) ?? results[0];
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

function resultOf(method: Method, { value }: RawValue): Said[] {
  if (typeof value === 'boolean') return [{ method, result: value ? 'pass' : 'fail' }];
  const result = typeof value === 'string' ? resultIn(value) : undefined;
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
  const result = name === 'receivedspf' ? resultIn(value) : undefined;
  return result ? [{ method: 'spf', result, said_by: 'header', pointer }] : [];
}

const MOST_SEGMENTS = 100;
/** A semicolon separates results; some gateways write a comma or nothing. */
const NEXT_RESULT = /;|[\s,](?=(?:spf|dkim|dmarc|compauth)(?:\/\d)?\s{0,9}=)/i;

/** Reads the value of an Authentication-Results header (RFC 8601), without the parts that are not readable. */
function resultsIn(header: string): Said[] {
  return withoutComments(header).split(NEXT_RESULT, MOST_SEGMENTS).flatMap(resultInSegment);
}

/** Reads `spf=pass smtp.mailfrom=example.com`. A version may follow the method: `dkim/1=pass`. */
function resultInSegment(segment: string): Said[] {
  const [first, ...rest] = segment.split(/[\s=]+/).filter((part) => part !== '');
  const name = first?.toLowerCase().split('/', 1)[0];
  const method = METHODS.find((known) => known === name);
  const result = resultIn(rest[0] ?? '');
  if (!method || !result || !segment.includes('=')) return [];
  const checked = PROPERTIES[method].map((property) => propertyIn(rest, property)).find(Boolean);
  const at = checked?.lastIndexOf('@') ?? -1;
  return [
    {
      method,
      result,
      ...(checked && { domain: checked.slice(at + 1) }),
      ...(checked && method === 'spf' && at > 0 && { sender: checked }),
    },
  ];
}

/** Properties with the checked domain. */
const PROPERTIES: Readonly<Record<Method, readonly string[]>> = {
  spf: ['smtp.mailfrom', 'smtp.helo'],
  dkim: ['header.d', 'header.i'],
  dmarc: ['header.from'],
  compauth: [],
};

const LONGEST_ADDRESS = 320;

function propertyIn(words: readonly string[], property: string): string | undefined {
  const at = words.findIndex((word) => word.toLowerCase() === property);
  const value = at < 0 ? undefined : words[at + 1]?.replace(/["<>]/g, '').toLowerCase();
  return value && value.length <= LONGEST_ADDRESS ? value : undefined;
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

/** Names of addresses. If several names are present, the first of a list counts. */
const FROM = 'from headerfrom p2sender fromaddress senderfromaddress sender senderaddress'.split(
  ' ',
);
const ENVELOPE =
  'envelopefrom returnpath p1sender sendermailfromaddress mailfrom smtpmailfrom'.split(' ');
const REPLY_TO = ['replyto', 'replytoaddress'];
const ADDRESSES = new Set([...FROM, ...ENVELOPE, ...REPLY_TO]);

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

/** The result of DMARC. Without it, whether a check passed for the domain of the sender. */
function isAligned(
  from: string | undefined,
  checks: readonly MethodResult[],
  dmarc: MethodResult | undefined,
): boolean | undefined {
  if (dmarc?.result === 'pass' || dmarc?.result === 'fail') return hasPassed(dmarc);
  const domain = from?.slice(from.lastIndexOf('@') + 1);
  const about = checks.filter((check) => check.domain !== undefined);
  if (domain === undefined || about.length === 0) return undefined;
  return about.some((check) => hasPassed(check) && isSameSite(check.domain!, domain));
}

/** A domain below which anyone can register, such as `com` and `co.uk`. */
const SHARED = /^(?:[^.]+|(?:ac|co|com|edu|go|gov|ne|net|or|org)\.[a-z]{2})$/;

/** Whether the domains are equal, or one is below the other. */
function isSameSite(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return long === short || (long.endsWith(`.${short}`) && !SHARED.test(short));
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

function isInHead(pointer: string): boolean {
  const names = parsePointer(pointer)?.flatMap((step) => step.split('.', MOST_LINES));
  return names?.some((name) => HEADS.has(plainName(name))) ?? false;
}

interface Line {
  readonly pointer: string;
  value: string;
}

/**
 * Reads headers from text as if each were a field: a head in one text, a list of lines, or a list of pairs. Headers in an object or
 * in a list of `{name, value}` are fields already.
 */
function writtenHeaders(texts: readonly RawText[]): readonly RawText[] {
  const inHeads = texts.filter(({ name }) => HEADS.has(name));
  const heads = Map.groupBy(inHeads, ({ pointer }) => pointer.replace(/\/\d+$/, ''));
  const lines = [...heads.values()].slice(0, MOST_RESULTS).flatMap((head) => {
    const [name, pair] = head;
    const isPair = head.length === 2 && /^[\w-]{1,64}$/.test(name!.value);
    return isPair ? [{ ...pair!, value: `${name!.value}: ${pair!.value}` }] : linesOf(head);
  });
  return lines.flatMap(({ pointer, value }) => {
    const colon = value.indexOf(':');
    const name = plainName(value.slice(0, Math.max(0, colon)));
    const header = { name, owner: 'headers', pointer, value: value.slice(colon + 1).trim() };
    return WANTED.has(name) ? [header] : [];
  });
}

/** A line that begins with a blank continues the header before it. The text of the mail begins after the first blank line. */
function linesOf(head: readonly RawText[]): Line[] {
  const lines: Line[] = [];
  let charactersLeft = LONGEST_HEAD;
  let linesLeft = MOST_LINES;
  for (const { pointer, value } of head.slice(0, MOST_LINES)) {
    const written = value.slice(0, charactersLeft).replace(/\r?\n$/, '');
    charactersLeft -= written.length;
    for (const line of written.split(/\r?\n/, MOST_LINES)) {
      const last = lines.at(-1);
      if (linesLeft === 0 || (line === '' && last)) return lines;
      linesLeft -= 1;
      if (last && /^[ \t]/.test(line)) last.value += line;
      else lines.push({ pointer, value: line });
    }
  }
  return lines;
}
