import { isOwnPlace } from './own-places.js';
import { isText, plainName, type RawText, type RawValue, rawValues } from './raw-values.js';

/** Methods of RFC 8601, and Microsoft's `compauth`. */
const METHODS = ['spf', 'dkim', 'dmarc', 'compauth'] as const;
type Method = (typeof METHODS)[number];

/** https://www.iana.org/assignments/email-auth; `softpass` and `bestguesspass` are Microsoft's. */
const RESULTS = [
  ...(['none', 'neutral', 'pass', 'fail', 'softfail', 'policy', 'temperror', 'permerror'] as const),
  ...(['softpass', 'bestguesspass'] as const),
];
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

/** Places of results, the most reliable first. */
const PLACES = { gateway: 0, header: 1, head: 2, receivedSpf: 3, elsewhere: 4 };
/** `Received-SPF` is the predecessor of the header: https://www.rfc-editor.org/rfc/rfc7208#section-9.1 */
const HEADERS = new Map([
  ['authenticationresults', PLACES.header],
  ['receivedspf', PLACES.receivedSpf],
]);

/**
 * Reads results of SPF, DKIM and DMARC from raw data of any shape: fields of a gateway, and headers of the mail. For each method,
 * results at the most reliable place count, and failures at places where strangers may write.
 */
export function mailAuthentication(rawData: unknown): MailAuthentication {
  const { values } = rawValues(rawData);
  const heads = values.filter(isText).filter(({ name }) => HEADS.has(name));
  const all = [...values, ...heads.flatMap(headersIn)].flatMap(told);
  // Each server adds its header above the earlier headers. The sender may have written any header except the topmost.
  const top = all.find(({ place }) => place === PLACES.header);
  const inOrder = all
    .filter(({ place, value }) => place !== PLACES.header || value === top?.value)
    .sort((a, b) => a.place - b.place);
  const found = METHODS.flatMap((of) => decisive(inOrder.filter(({ method }) => method === of)));
  return {
    ...Object.fromEntries(
      found.map(({ method, result, said_by, pointer }) => [method, { result, said_by, pointer }]),
    ),
    pointers: [...new Set(found.map(({ pointer }) => pointer))],
  };
}

function told(value: RawValue) {
  const { name, path, pointer } = value;
  const names = path.split('/');
  const said = saidIn(value, names);
  if (said.length === 0) return [];
  const isInHead = names.some((one) => HEADS.has(one));
  const isOwn = !isInHead && isOwnPlace(path);
  const place = isOwn || isInHead ? HEADERS.get(name) : PLACES.elsewhere;
  // A name with hyphens was copied from the mail. Names that tools choose have no hyphens.
  const isCopied = /\/(?:authentication-results|received[-_]?spf)(?:\/|$)/i.test(pointer);
  const found = {
    place: place ?? (isOwn ? PLACES.gateway : PLACES.head),
    said_by: isOwn && !isCopied ? ('gateway' as const) : ('header' as const),
  };
  return said.map((one) => ({ ...one, ...found, pointer, value }));
}

/**
 * Among several results the worst wins, because an attacker may have written the others. Among several signatures one pass is enough,
 * unless the tool saw no signature, or a stranger reports another result.
 */
function decisive<Told extends Said & { readonly place: number }>(all: readonly Told[]): Told[] {
  const isDkim = all[0]?.method === 'dkim';
  const reliable = all.filter(({ place }) => place === all[0]?.place);
  const against = all.filter((one) => one.place === PLACES.elsewhere && one.result !== 'pass');
  const isRefuted = isDkim && against.length > 0 && reliable.some((one) => one.result === 'pass');
  const order = isDkim ? ['none', 'pass', ''] : ['fail', 'softfail', '', 'pass'];
  const rankOf = ({ result }: Said) => order.indexOf(order.includes(result) ? result : '');
  const counted = isRefuted ? against : [...reliable, ...against];
  return counted.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, 1);
}

const FIELDS: ReadonlyMap<string, Method> = new Map([
  ...METHODS.map((method) => [method, method] as const),
  ['senderpolicyframework', 'spf'],
  ['compositeauthentication', 'compauth'],
]);
const FIELD_END = /(?:result|status|verdict|check|pass|passed|valid)$/;
const RESULT_NAMES = new Set(['result', 'status', 'verdict', 'value']);
const SUMMARIES = new Set(
  'authentication authenticationdetails authresults authres auth mailauth'.split(' '),
);

function saidIn({ name, value }: RawValue, names: readonly string[]): Said[] {
  if (name === 'receivedspf') return resultOf('spf', value);
  // Some tools write the path of a value as its name: `email.authentication.spf`.
  const [last = '', owner = ''] = names.slice(-2).reverse();
  const methodOf = (field: string) => FIELDS.get(field.replace(FIELD_END, ''));
  const ofOwner = RESULT_NAMES.has(last) ? methodOf(owner) : undefined;
  const method = methodOf(name) ?? methodOf(last) ?? ofOwner;
  if (method) return resultOf(method, value);
  return HEADERS.has(name) || SUMMARIES.has(last) ? resultsIn(String(value)) : [];
}

/** Reads the first word, such as `Pass` of `Pass (protection.example.com: ...)`. */
function resultOf(method: Method, value: RawValue['value']): Said[] {
  if (typeof value === 'boolean') return [{ method, result: value ? 'pass' : 'fail' }];
  const [, word = ''] = /^\s*([a-z]{1,16})\b/i.exec(String(value).slice(0, 64)) ?? [];
  const usual = word.toLowerCase().replace(/^(?:hard)?(pass|fail)(?:ed)?$/, '$1');
  return RESULTS.filter((result) => result === usual).map((result) => ({ method, result }));
}

const LONGEST_TEXT = 16_384;
const MOST_SEGMENTS = 100;
/** A semicolon separates results; some gateways write a comma or nothing. */
const NEXT_RESULT = /;|[\s,](?=(?:spf|dkim|dmarc|compauth)(?:\/\d)?\s{0,9}[=:])/i;
/** `spf=pass smtp.mailfrom=example.com`, or `SPF: pass`. A version may follow the method: `dkim/1=pass`. */
const RESULT = /^\s*([a-z]+)(?:\/\d+)?\s*[=:](.*)/is;

/** Parses an Authentication-Results header (RFC 8601), a summary, or Microsoft's `AuthenticationDetails`, which is JSON in a text. */
function resultsIn(text: string): Said[] {
  const start = text.slice(0, LONGEST_TEXT);
  const isJson = start.trimStart().startsWith('{');
  const plain = isJson ? start.replace(/["{}]/g, ' ') : withoutComments(start);
  return plain.split(NEXT_RESULT, MOST_SEGMENTS).flatMap((segment) => {
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
    else if (isQuoted) kept += /[\s;=:()]/.test(character) ? '_' : character;
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
