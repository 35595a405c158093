import { type ByteView, ViewBuilder } from './byte-view.js';

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;
const LONGEST_ENTITY = 12;

const CONTROLS: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** HTML's names for the printable characters of ASCII, and for the space that does not break. */
const ENTITIES: Readonly<Record<string, string>> = {
  Tab: '\t',
  NewLine: '\n',
  nbsp: ' ',
  excl: '!',
  quot: '"',
  QUOT: '"',
  num: '#',
  dollar: '$',
  percnt: '%',
  amp: '&',
  AMP: '&',
  apos: "'",
  lpar: '(',
  rpar: ')',
  ast: '*',
  midast: '*',
  plus: '+',
  comma: ',',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  lt: '<',
  LT: '<',
  equals: '=',
  gt: '>',
  GT: '>',
  quest: '?',
  commat: '@',
  lsqb: '[',
  lbrack: '[',
  bsol: '\\',
  rsqb: ']',
  rbrack: ']',
  Hat: '^',
  lowbar: '_',
  UnderBar: '_',
  grave: '`',
  lcub: '{',
  lbrace: '{',
  verbar: '|',
  vert: '|',
  rcub: '}',
  rbrace: '}',
};

interface Escape {
  readonly length: number;
  readonly code: number;
  /** A byte of UTF-8, not a character. */
  readonly byte?: true;
}

/** With percent-encoding, backslashes (JSON, JavaScript) and HTML's entities read, once; undefined when there are none. */
export function unescaped(view: ByteView): ByteView | undefined {
  const { bytes, from, to } = view;
  if (![PERCENT, AMPERSAND, BACKSLASH].some((mark) => bytes.includes(mark))) return undefined;
  // An escape is never shorter than what it stands for.
  const builder = new ViewBuilder(bytes.length, view.guessed);
  for (let at = 0; at < bytes.length;) {
    const found = escapeAt(bytes, at);
    const next = at + (found?.length ?? 1);
    const end = to[next - 1]!;
    if (!found || found.byte) builder.byte(found?.code ?? bytes[at]!, from[at]!, end);
    else builder.character(found.code, from[at]!, end);
    at = next;
  }
  return builder.view;
}

function escapeAt(bytes: Uint8Array, at: number): Escape | undefined {
  const mark = bytes[at];
  if (mark === PERCENT) return percent(ascii(bytes, at, 3));
  if (mark === BACKSLASH) return backslash(ascii(bytes, at, 12));
  return mark === AMPERSAND ? entity(ascii(bytes, at, LONGEST_ENTITY)) : undefined;
}

function percent(text: string): Escape | undefined {
  const [, digits] = /^%([0-9a-f]{2})/i.exec(text) ?? [];
  return digits === undefined ? undefined : { length: 3, code: parseInt(digits, 16), byte: true };
}

function backslash(text: string): Escape | undefined {
  const [pair, high, low] = /^\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/i.exec(text) ?? [];
  if (pair && high && low) {
    const code = 0x10000 + ((parseInt(high, 16) - 0xd800) << 10) + parseInt(low, 16) - 0xdc00;
    return { length: pair.length, code };
  }
  const [whole, four, two] = /^\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))/i.exec(text) ?? [];
  if (whole) return { length: whole.length, code: parseInt(four ?? two!, 16) };
  const next = text[1];
  if (next === undefined) return undefined;
  const control = CONTROLS[next];
  return control === undefined
    ? { length: 2, code: next.charCodeAt(0), byte: true }
    : { length: 2, code: control.charCodeAt(0) };
}

function entity(text: string): Escape | undefined {
  const [whole, decimal, hex, name] =
    /^&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+)(?=;));?/i.exec(text) ?? [];
  if (!whole) return undefined;
  if (name !== undefined) {
    const named = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
    return named === undefined ? undefined : { length: whole.length, code: named.charCodeAt(0) };
  }
  const code = decimal === undefined ? parseInt(hex!, 16) : Number(decimal);
  return code <= 0x10ffff ? { length: whole.length, code } : undefined;
}

function ascii(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length));
}
