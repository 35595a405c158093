/** The methods that are read, by the names of RFC 8601 and, for the last one, of Microsoft's header. */
export const METHODS = ['spf', 'dkim', 'dmarc', 'compauth'] as const;
export type Method = (typeof METHODS)[number];

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

const SPELLINGS: ReadonlyMap<string, AuthenticationResult> = new Map<string, AuthenticationResult>([
  ...RESULTS.map((result) => [result, result] as const),
  ['passed', 'pass'],
  ['failed', 'fail'],
  ['hardfail', 'fail'],
]);

/** The first word of a value, such as `Pass` of `Pass (protection.example.com: ...)`. */
export function resultIn(text: string): AuthenticationResult | undefined {
  return SPELLINGS.get(/^\s*([a-z]{1,16})\b/i.exec(text.slice(0, 64))?.[1]?.toLowerCase() ?? '');
}

export interface SaidResult {
  readonly method: Method;
  readonly result: AuthenticationResult;
  /** Of the domain that was checked, such as `header.d=example.com`. */
  readonly domain?: string;
  /** Of an SPF check: the sender of the envelope, where it is a whole address. */
  readonly sender?: string;
}

export const LONGEST_HEADER = 16_384;
const MOST_SEGMENTS = 100;

/** What the value of a header `Authentication-Results` says (RFC 8601). What cannot be read is left out. */
export function readAuthenticationResults(header: string): readonly SaidResult[] {
  return withoutComments(header.slice(0, LONGEST_HEADER))
    .split(NEXT_RESULT, MOST_SEGMENTS)
    .flatMap((segment) => segmentResult(segment));
}

/** A semicolon stands between two results; some gateways leave it out, or write a comma. */
const NEXT_RESULT = /;|[\s,](?=(?:spf|dkim|dmarc|compauth)(?:\/\d)?\s{0,9}=)/i;

/** What a gateway says in a field of its own, in this form or as `SPF: fail, DKIM: none`. */
export function readSummary(text: string): readonly SaidResult[] {
  const equated = text
    .slice(0, LONGEST_HEADER)
    .replace(/\b(spf|dkim|dmarc|compauth)\s{0,9}:/gi, '$1=');
  return readAuthenticationResults(equated);
}

/** `spf=pass smtp.mailfrom=example.com`: the result, and then what was looked at. The name of the server, which comes first, has no `=`. */
function segmentResult(segment: string): SaidResult[] {
  const [first, ...rest] = segment.split(/[\s=]+/).filter((part) => part !== '');
  // A version may stand behind the method: `dkim/1=pass`.
  const name = first?.toLowerCase().split('/', 1)[0];
  const method = METHODS.find((known) => known === name);
  const result = rest[0] === undefined ? undefined : resultIn(rest[0]);
  if (!method || !result || !segment.includes('=')) return [];
  const looked = PROPERTIES[method].map((property) => valueOf(property, rest)).find(Boolean);
  const at = looked?.lastIndexOf('@') ?? -1;
  return [
    {
      method,
      result,
      ...(looked && { domain: looked.slice(at + 1) }),
      ...(looked && method === 'spf' && at > 0 && { sender: looked }),
    },
  ];
}

const PROPERTIES: Readonly<Record<Method, readonly string[]>> = {
  spf: ['smtp.mailfrom', 'smtp.helo'],
  dkim: ['header.d', 'header.i'],
  dmarc: ['header.from'],
  compauth: [],
};

const LONGEST_ADDRESS = 320;

function valueOf(property: string, words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => word.toLowerCase() === property);
  const value = at < 0 ? undefined : words[at + 1]?.replace(/["<>]/g, '').toLowerCase();
  return value !== undefined && value !== '' && value.length <= LONGEST_ADDRESS ? value : undefined;
}

/**
 * Comments stand in parentheses, also in each other. What stands in quotation marks, such as the sender that an attacker chose,
 * must not look like a further result. Either goes on to the end when it is not closed.
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
