import { type ByteView, rewritten, utf8 } from './byte-view.js';

/** Escapes of URLs, JavaScript, C and HTML. Case counts: `\U` takes eight digits, `\u` four. `H` stands for a hexadecimal digit. */
const ESCAPE = new RegExp(
  [
    String.raw`[%\\]u(?<high>[Dd][89ABab]H{2})[%\\]u(?<low>[Dd][C-Fc-f]H{2})`,
    String.raw`[%\\]u(?<four>H{4})`,
    String.raw`\\U(?<eight>H{8})`,
    String.raw`\\[ux]\{(?<braced>H{1,8})\}`,
    String.raw`\\x(?<two>H{2})`,
    String.raw`%(?<percent>H{2})`,
    String.raw`\\(?<octal>[0-3]?[0-7]{1,2})`,
    String.raw`\\(?<other>[^])`,
    String.raw`&#(?<decimal>\d{1,7});?`,
    String.raw`&#[Xx](?<hex>H{1,6});?`,
    String.raw`&(?<name>[A-Za-z]{2,8});`,
  ]
    .join('|')
    .replaceAll('H{', '[0-9A-Fa-f]{'),
  'g',
);

/** The escapes of mail, and its soft line breaks, which stand for nothing. */
const QUOTED_PRINTABLE = /=(?:(?<byte>[0-9A-Fa-f]{2})|[\t ]{0,8}\r?\n)/g;

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

/** The view with the escapes of URLs, of JSON, JavaScript and C, and of HTML replaced, one level of them; undefined when there are none. */
export function unescaped(view: ByteView): ByteView | undefined {
  if (![PERCENT, BACKSLASH, AMPERSAND].some((mark) => view.bytes.includes(mark))) return undefined;
  return rewritten(view, ESCAPE, ({ groups = {} }) => {
    const byte = byteOf(groups);
    if (byte !== undefined) return [byte];
    const code = characterOf(groups);
    return code === undefined ? undefined : utf8(code);
  });
}

/** Apart from the other escapes, because an equals sign before two digits is common in ordinary text. */
export function quotedPrintableRead(view: ByteView): ByteView | undefined {
  return rewritten(view, QUOTED_PRINTABLE, ({ groups = {} }) =>
    groups['byte'] === undefined ? [] : [parseInt(groups['byte'], 16)],
  );
}

type Groups = Readonly<Record<string, string | undefined>>;

/** The byte of UTF-8 that an escape stands for, if it stands for one. */
function byteOf({ percent, octal, other }: Groups): number | undefined {
  if (percent !== undefined) return parseInt(percent, 16);
  if (octal !== undefined) return parseInt(octal, 8);
  return other === undefined ? undefined : (CONTROLS[other] ?? other).charCodeAt(0);
}

/** The character that it stands for otherwise; undefined when there is no such character. */
function characterOf(groups: Groups): number | undefined {
  const { high, low, four, eight, braced, two, decimal, hex, name } = groups;
  if (high !== undefined && low !== undefined) {
    return 0x10000 + ((parseInt(high, 16) - 0xd800) << 10) + parseInt(low, 16) - 0xdc00;
  }
  if (name !== undefined) {
    return Object.hasOwn(ENTITIES, name) ? ENTITIES[name]!.charCodeAt(0) : undefined;
  }
  const digits = four ?? eight ?? braced ?? two ?? hex;
  const code = digits === undefined ? Number(decimal) : parseInt(digits, 16);
  return code <= 0x10ffff ? code : undefined;
}
