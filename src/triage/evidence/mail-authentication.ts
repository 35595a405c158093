import { isOwnPlace } from './own-places.js';
import { isText, plainName, type RawText, type RawValue } from './raw-values.js';

const METHODS = ['spf', 'dkim', 'dmarc', 'compauth'] as const;
export type Method = (typeof METHODS)[number];

/** Results in https://www.iana.org/assignments/email-auth, and `softpass` and `bestguesspass` of Microsoft. */
const RESULTS = [
  ...(['none', 'neutral', 'pass', 'fail', 'softfail', 'policy', 'temperror', 'permerror'] as const),
  ...(['softpass', 'bestguesspass'] as const),
];
export type AuthenticationResult = (typeof RESULTS)[number];

export interface MethodResult {
  readonly result: AuthenticationResult;
  /** `gateway`: the tool wrote the field. `header`: strangers may write it, unless the gateway removes such headers. */
  readonly said_by: 'gateway' | 'header';
  readonly pointer: string;
}

export interface MailAuthentication extends Partial<Record<Method, MethodResult>> {
  readonly pointers: readonly string[];
}

interface Said {
  readonly method: Method;
  readonly result: AuthenticationResult;
}

/** Ranks of the places where a result can be. A lower rank is more reliable. */
const PLACES = { gateway: 0, header: 1, head: 2, receivedSpf: 3, elsewhere: 4 };
/** `Received-SPF` is the predecessor of `Authentication-Results`: https://www.rfc-editor.org/rfc/rfc7208#section-9.1 */
const HEADERS = new Map([
  ['authenticationresults', PLACES.header],
  ['receivedspf', PLACES.receivedSpf],
]);

/** Per method, the most reliable place counts, but failures count at every place. */
export function mailAuthentication(values: readonly RawValue[]): MailAuthentication {
  const heads = values.filter(isText).filter(({ name }) => HEADS.has(name));
  const all = [...values, ...heads.flatMap(headersIn)].flatMap(told);
  // Each server adds its header at the top. So the sender may have written any of these headers except the topmost.
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
  // A key with hyphens was copied from the mail. Keys that tools choose contain no hyphens.
  const isCopied = /\/(?:authentication-results|received[-_]?spf)(?:\/|$)/i.test(pointer);
  const found = {
    place: place ?? (isOwn ? PLACES.gateway : PLACES.head),
    said_by: isOwn && !isCopied ? ('gateway' as const) : ('header' as const),
  };
  return said.map((one) => ({ ...one, ...found, pointer, value }));
}

/** The worst result counts: attackers may have written the others. One DKIM pass is enough, unless contradicted. */
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

function resultOf(method: Method, value: RawValue['value']): Said[] {
  if (typeof value === 'boolean') return [{ method, result: value ? 'pass' : 'fail' }];
  const [, word = ''] = /^\s*([a-z]{1,16})\b/i.exec(String(value).slice(0, 64)) ?? [];
  const usual = word.toLowerCase().replace(/^(?:hard)?(pass|fail)(?:ed)?$/, '$1');
  return RESULTS.filter((result) => result === usual).map((result) => ({ method, result }));
}

const LONGEST_TEXT = 16_384;
const MOST_SEGMENTS = 100;
/** Matches the end of a result. Most gateways write a semicolon, and some write a comma or only a space. */
const NEXT_RESULT = /;|[\s,](?=(?:spf|dkim|dmarc|compauth)(?:\/\d)?\s{0,9}[=:])/i;
/** Matches `spf=pass smtp.mailfrom=example.com`, or `SPF: pass`. A version may follow the method: `dkim/1=pass`. */
const RESULT = /^\s*([a-z]+)(?:\/\d+)?\s*[=:](.*)/is;

/** Parses an Authentication-Results header (RFC 8601), a summary, or `AuthenticationDetails` of Microsoft (JSON). */
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

/** Removes comments, which may be nested, and quoted separators: both could look like results or be unclosed. */
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

const HEADS = new Set(
  (
    'head header headers rawheaders fullheaders mailheaders emailheaders messageheaders internetheaders ' +
    'internetmessageheaders originalheaders mimeheaders rawmessage rawmail rawemail eml mime'
  ).split(' '),
);
const MOST_LINES = 1_000;
const LONGEST_HEAD = 131_072;

/** Splits the text of mail headers. An indented line continues its header. The body follows the first blank line. */
function headersIn(text: RawText): RawText[] {
  const [head = ''] = text.value.slice(0, LONGEST_HEAD).split(/\r?\n\r?\n/, 1);
  const lines = head.replace(/\r?\n[ \t]/g, ' ').split(/\r?\n/, MOST_LINES);
  return lines.map((line) => {
    const colon = Math.max(0, line.indexOf(':'));
    return { ...text, name: plainName(line.slice(0, colon)), value: line.slice(colon + 1).trim() };
  });
}
