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
   * `gateway`: a field of the tool. `header`: the head of the mail, or another place where strangers may write. A result there is
   * reliable only if the gateway removes the headers of senders.
   */
  readonly said_by: 'gateway' | 'header';
  readonly pointer: string;
}

/** Results of a mail gateway about the sender of a mail. */
export interface MailAuthentication extends Partial<Record<Method, MethodResult>> {
  readonly pointers: readonly string[];
}

interface Said {
  readonly method: Method;
  readonly result: AuthenticationResult;
}

type Told = Said & MethodResult & { readonly place: ReturnType<typeof placeOf> };

/** Place of a result: a field of the tool, the head of the mail, or a place where strangers may write. */
function placeOf({ path }: RawValue): 'gateway' | 'head' | 'elsewhere' {
  if (path.split('/').some((name) => HEADS.has(name))) return 'head';
  return isOwnPlace(path) ? 'gateway' : 'elsewhere';
}

const LONGEST_HEADER = 16_384;

/**
 * Reads results of SPF, DKIM and DMARC from raw data of any shape: fields of a gateway, and headers of the mail. For each method,
 * results at the most reliable place count, and failures at places where strangers may write.
 */
export function mailAuthentication(rawData: unknown): MailAuthentication {
  const { values } = rawValues(rawData);
  const texts = values.filter(isText);
  const headers = [...texts, ...texts.filter(({ name }) => HEADS.has(name)).flatMap(headersIn)];
  const fields = values.flatMap((value) => told(value, inField(value)));
  const results = headers.filter(({ name }) => name === 'authenticationresults');
  const inHeader = (header: RawText) => told(header, resultsIn(header.value));
  const isElsewhere = (header: RawText) => placeOf(header) === 'elsewhere';
  const elsewhere = [
    ...fields.filter(({ place }) => place === 'elsewhere'),
    ...results.filter(isElsewhere).flatMap(inHeader),
  ];
  // Sorted from the most reliable place to the least reliable. Each server adds its header above the earlier headers. The sender
  // may have written any header except the topmost.
  const sources = [
    fields.filter(({ place }) => place === 'gateway'),
    results
      .filter((header) => !isElsewhere(header))
      .slice(0, 1)
      .flatMap(inHeader),
    fields.filter(({ place }) => place === 'head'),
    // The predecessor of Authentication-Results: https://www.rfc-editor.org/rfc/rfc7208#section-9.1
    headers.flatMap((header) => {
      return header.name === 'receivedspf' ? told(header, resultOf('spf', header.value)) : [];
    }),
    elsewhere,
  ];
  const hasPassed = ({ result }: Said) => result === 'pass';
  const found = METHODS.flatMap((method) => {
    const of = (all: readonly Told[]) => all.filter((one) => one.method === method);
    const reliable = sources.map(of).find(({ length }) => length > 0) ?? [];
    // A stranger may have written these results, so they can only lower the trust, also in a signature.
    const against = of(elsewhere).filter((one) => !hasPassed(one));
    const isRefuted = method === 'dkim' && reliable.some(hasPassed) && against.length > 0;
    const [first, ...more] = isRefuted ? against : [...reliable, ...against];
    return first ? [decisive([first, ...more])] : [];
  });
  return {
    ...Object.fromEntries(
      found.map(({ method, result, said_by, pointer }) => [method, { result, said_by, pointer }]),
    ),
    pointers: [...new Set(found.map(({ pointer }) => pointer))],
  };
}

/** A name with hyphens was copied from the mail. Names that tools choose have no hyphens. */
function told(value: RawValue, said: readonly Said[]): Told[] {
  if (said.length === 0) return [];
  const { pointer } = value;
  const place = placeOf(value);
  const isCopied = /\/(?:authentication-results|received[-_]?spf)(?:\/|$)/i.test(pointer);
  const said_by = place === 'gateway' && !isCopied ? 'gateway' : 'header';
  return said.map((one) => ({ ...one, place, said_by, pointer }));
}

function inField({ name, path, value }: RawValue): Said[] {
  // Some tools write the path of a value as its name: `email.authentication.spf`.
  const [last = '', owner = ''] = path.split('/').slice(-2).reverse();
  const ofOwner = RESULT_NAMES.has(last) ? FIELDS.get(owner) : undefined;
  const method = FIELDS.get(name) ?? FIELDS.get(last) ?? ofOwner;
  if (method) return resultOf(method, value);
  return SUMMARIES.has(last) ? inSummary(String(value).slice(0, LONGEST_HEADER)) : [];
}

/**
 * Among several results the worst wins, because an attacker may have written the others. Among several signatures one pass is enough,
 * unless the tool saw no signature.
 */
function decisive(results: readonly [Told, ...Told[]]): Told {
  const is = (...wanted: readonly AuthenticationResult[]) =>
    wanted.map((one) => results.find(({ result }) => result === one)).find(Boolean);
  const [first] = results;
  if (first.method === 'dkim') return is('none', 'pass') ?? first;
  return is('fail', 'softfail') ?? results.find(({ result }) => result !== 'pass') ?? first;
}

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

/** Parses `AuthenticationDetails` of Microsoft, which is JSON in a text, or a text such as `SPF: fail, DKIM: none`. */
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

/** Parses an Authentication-Results header (RFC 8601). Skips unreadable parts. */
function resultsIn(header: string): Said[] {
  const segments = withoutComments(header.slice(0, LONGEST_HEADER)).split(
    NEXT_RESULT,
    MOST_SEGMENTS,
  );
  return segments.flatMap((segment) => {
    const [, name, rest = ''] = RESULT.exec(segment) ?? [];
    const method = METHODS.find((known) => known === name?.toLowerCase());
    return method ? resultOf(method, rest) : [];
  });
}

/**
 * Removes comments, which may be nested, and separators in quoted text, so that neither looks like a further result. An unclosed
 * comment or quote extends to the end of the header.
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

/** Names of fields with the head of a mail, or with the whole mail. */
const HEADS = new Set(
  (
    'head header headers rawheaders fullheaders mailheaders emailheaders messageheaders internetheaders ' +
    'internetmessageheaders originalheaders mimeheaders rawmessage rawmail rawemail eml mime'
  ).split(' '),
);
const MOST_LINES = 1_000;
const LONGEST_HEAD = 131_072;

/**
 * Splits the head of a mail into headers. Headers in an object or in a list of `{name, value}` are already fields. A line that begins
 * with a blank continues the previous header. The body of the mail begins after the first blank line.
 */
function headersIn(text: RawText): RawText[] {
  const [head = ''] = text.value.slice(0, LONGEST_HEAD).split(/\r?\n\r?\n/, 1);
  const lines = head.replace(/\r?\n[ \t]/g, ' ').split(/\r?\n/, MOST_LINES);
  return lines.map((line) => {
    const colon = Math.max(0, line.indexOf(':'));
    return { ...text, name: plainName(line.slice(0, colon)), value: line.slice(colon + 1).trim() };
  });
}
