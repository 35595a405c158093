import { type ByteView, ViewBuilder } from './byte-view.js';

const ESCAPE =
  /%(?<percent>[0-9a-f]{2})|\\u(?<high>d[89ab][0-9a-f]{2})\\u(?<low>d[c-f][0-9a-f]{2})|\\u(?<four>[0-9a-f]{4})|\\x(?<two>[0-9a-f]{2})|\\(?<other>[^])|&#(?<decimal>\d{1,7});?|&#x(?<hex>[0-9a-f]{1,6});?|&(?<name>[a-z]{2,8});/gi;

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;

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

/** With percent-encoding, backslashes (JSON, JavaScript) and HTML's entities read, once; undefined when there are none. */
export function unescaped({ bytes, from, to, guessed }: ByteView): ByteView | undefined {
  if (![PERCENT, BACKSLASH, AMPERSAND].some((mark) => bytes.includes(mark))) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  // An escape is never shorter than what it stands for.
  const builder = new ViewBuilder(bytes.length, guessed);
  let at = 0;
  const copyUntil = (end: number): void => {
    for (; at < end; at += 1) builder.byte(bytes[at]!, from[at]!, to[at]!);
  };
  for (const { 0: escape, index, groups = {} } of text.matchAll(ESCAPE)) {
    copyUntil(index);
    const [start, end] = [from[index]!, to[index + escape.length - 1]!];
    const byte = byteOf(groups);
    const code = byte ?? characterOf(groups);
    if (code === undefined) continue;
    if (byte === undefined) builder.character(code, start, end);
    else builder.byte(code, start, end);
    at = index + escape.length;
  }
  copyUntil(bytes.length);
  return builder.view;
}

type Groups = Readonly<Record<string, string | undefined>>;

/** Where an escape stands for a byte of UTF-8. */
function byteOf({ percent, other }: Groups): number | undefined {
  if (percent !== undefined) return parseInt(percent, 16);
  return other === undefined ? undefined : (CONTROLS[other] ?? other).charCodeAt(0);
}

/** Where it stands for a character; undefined for an entity that there is not. */
function characterOf({ high, low, four, two, decimal, hex, name }: Groups): number | undefined {
  if (high !== undefined && low !== undefined) {
    return 0x10000 + ((parseInt(high, 16) - 0xd800) << 10) + parseInt(low, 16) - 0xdc00;
  }
  if (name !== undefined) {
    return Object.hasOwn(ENTITIES, name) ? ENTITIES[name]!.charCodeAt(0) : undefined;
  }
  const code = decimal === undefined ? parseInt(four ?? two ?? hex!, 16) : Number(decimal);
  return code <= 0x10ffff ? code : undefined;
}
