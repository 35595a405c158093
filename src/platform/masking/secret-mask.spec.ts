import fc from 'fast-check';
import { SecretMask } from './secret-mask.js';

const SECRET = 'Tok/en+42 "ü"&=\\<x>~';
const PLAIN = 'very-secret-token-77';
const user = Buffer.from('svc-user:p4ss word!').toString('base64');

const percentAll = (text: string): string =>
  Buffer.from(text).toString('hex').replace(/../g, '%$&');
const unicodeAll = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const html = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[one] ?? '&quot;');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const base32 = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
    .replace(
      /.{1,5}/g,
      (bits) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(bits.padEnd(5, '0'), 2)]!,
    );
const hexWith = (before: string, between: string) => (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => `${before}${byte.toString(16).padStart(2, '0')}`)
    .join(between);
const octal = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const eachWith =
  (more: string) =>
  (text: string): string =>
    [...text].join(more);
/** The letters of Chinese and Japanese typography, as wide as the others there. */
const fullWidth = (text: string): string =>
  text.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0));

const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  'lower case': (text) => text.toLowerCase(),
  'upper case': (text) => text.toUpperCase(),
  'letters and accents apart': (text) => text.normalize('NFD'),
  'Latin-1, percent-encoded': (text) =>
    Buffer.from(text, 'latin1').toString('hex').replace(/../g, '%$&'),
  'Latin-1 in base64': (text) => Buffer.from(text, 'latin1').toString('base64'),
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': (text) =>
    encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
  'percent-encoded throughout': percentAll,
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'a form': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  base64,
  'base64 without padding': (text) => base64(text).replaceAll('=', ''),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 in lines': (text) => base64(text).replace(/.{8}/g, '$&\r\n'),
  'base64 of more, one byte on': (text) => base64(`"${text}" and more`),
  'base64 of more, two bytes on': (text) => base64(`: ${text}" and more`),
  'base64, percent-encoded': (text) => encodeURIComponent(base64(text)),
  'base64 of a form': (text) => base64(`a=1&b=${encodeURIComponent(text)}`),
  'base64 twice': (text) => base64(base64(text)),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'hex with colons': (text) =>
    Buffer.from(text)
      .toString('hex')
      .replace(/..(?=.)/g, '$&:'),
  'hex with hyphens': hexWith('', '-'),
  'hex with spaces': hexWith('', ' '),
  'hex of bytes as in C': hexWith('0x', ', '),
  'hex of bytes as in C, with nothing between': hexWith('0x', ''),
  'base64 of base64 of base64': (text) => base64(base64(base64(text))),
  'base64 of UTF-16': (text) => utf16(text).toString('base64'),
  'base64 of UTF-16, high bytes first': (text) => utf16(text).swap16().toString('base64'),
  'base64 of base64 in UTF-16': (text) => utf16(base64(text)).toString('base64'),
  'hex of UTF-16': (text) => utf16(text).toString('hex'),
  base32,
  'base32 in lower case': (text) => base32(text).toLowerCase(),
  'quoted-printable': (text) =>
    text.replace(/[^ -<>-~]/g, (one) => percentAll(one).replaceAll('%', '=')),
  'quoted-printable throughout, in lines': (text) =>
    percentAll(text)
      .replaceAll('%', '=')
      .replace(/.{12}(?=.)/g, '$&=\r\n'),
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'JSON with slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  '\\uXXXX': unicodeAll,
  '\\UXXXX in upper case': (text) => unicodeAll(text).toUpperCase().replaceAll('\\U', '\\u'),
  '%uXXXX': (text) => unicodeAll(text).replaceAll('\\', '%'),
  '\\u{X}': (text) => [...text].map((one) => `\\u{${one.codePointAt(0)!.toString(16)}}`).join(''),
  '\\UXXXXXXXX': (text) => unicodeAll(text).replaceAll('\\u', '\\U0000'),
  '\\xXX': (text) => unicodeAll(text).replaceAll('\\u00', '\\x'),
  octal,
  HTML: html,
  'HTML in numbers': (text) => [...text].map((one) => `&#${one.codePointAt(0)};`).join(''),
  'HTML in hexadecimal numbers': (text) =>
    [...text].map((one) => `&#x${one.codePointAt(0)!.toString(16)};`).join(''),
  'full width': fullWidth,
  'base64 in full width': (text) => fullWidth(base64(text)),
  'with spaces of no width': eachWith('\u200b'),
  'with spaces of no width, escaped': (text) => unicodeAll(eachWith('\u200b')(text)),
  'with soft hyphens and selectors': eachWith('\u00ad\ufe0f'),
  'with NUL between': eachWith('\0'),
  'percent-encoded, with NUL between': (text) => percentAll(eachWith('\0')(text)),
  'without its spaces': (text) => text.replaceAll(' ', ''),
  'with its spaces collapsed and others added': (text) => text.replaceAll(' ', ' \n\t '),
};

describe('SecretMask', () => {
  describe.each(Object.entries(ENCODINGS))(
    'with a secret that is told in this form: %s',
    (name, encode) => {
      it.each([SECRET, PLAIN, 'a  b  c-1', `a%41b\\nc&amp;d`])('masks the secret %j', (secret) => {
        const masked = new SecretMask([secret]).mask(`before ${encode(secret)} after`);
        expect(masked).toMatch(
          /of|twice/.test(name)
            ? /^before \S{0,16}\[secret\]\S{0,20} after$/
            : /^before \[secret\][=＝]*(%3D)* after$/,
        );
      });
    },
  );

  it.each([
    ['the whole', user],
    ['the pair', 'svc-user:p4ss word!'],
    ['the user', 'svc-user'],
    ['the password', 'p4ss word!'],
    ['the pair, encoded otherwise', Buffer.from('svc-user:p4ss word!').toString('base64url')],
  ])('masks %s of a Basic header', (_, shown) => {
    expect(new SecretMask([user]).mask(`a ${shown} b`)).toMatch(/^a \[secret\] b$/);
  });

  it('masks a secret with which another begins, and two that overlap', () => {
    for (const secrets of [
      ['abcdef', 'abcdefghij'],
      ['abcdefghij', 'abcdef'],
    ]) {
      const mask = new SecretMask(secrets);
      expect(mask.mask('x abcdefghij y abcdef z')).toBe('x [secret] y [secret] z');
      expect(mask.mask('abcdefghix')).toBe('[secret]ghix');
    }
    const mask = new SecretMask(['one-two', 'two-three', 'o-thr']);
    expect(mask.mask('a one-two-three b')).toBe('a [secret] b');
  });

  describe('with a short secret', () => {
    const mask = new SecretMask(['Ab1', '7', 'k=9']);

    it.each([
      ['the pin is ab1.', 'the pin is [secret].'],
      ['{"pin":"Ab1","n":7}', '{"pin":"[secret]","n":[secret]}'],
      ['pin%3DAb1%26x', 'pin%3D[secret]%26x'],
      [`pin ${base64('Ab1')} ok`, 'pin [secret] ok'],
      [`pin ${Buffer.from('Ab1').toString('hex')} ok`, 'pin [secret] ok'],
      [`pin "${base64(base64('Ab1'))}" ok`, 'pin "[secret]==" ok'],
      [`pin "${base64(Buffer.from('k=9').toString('hex'))}" ok`, 'pin "[secret]" ok'],
      ['[k=9]', '[[secret]]'],
    ])('masks it when it stands alone: %s', (text, shown) => {
      expect(mask.mask(text)).toBe(shown);
    });

    it.each([
      'cab1e',
      'crab1',
      'ab12',
      '77 of 17',
      'The host was isolated at 12:34:56 by 10.1.2.3.',
    ])('leaves a longer word as it is: %s', (text) => expect(mask.mask(text)).toBe(text));
  });

  describe('of a secret of which only the beginning is told', () => {
    const token = 'Zx9-Qv7_mN3pLk8RtY2wBc5Hd1F';
    const start = token.slice(0, 20);
    const mask = new SecretMask([token, 'pass-word']);

    it.each([
      [`bad token ${start}...`, 'bad token [secret]...'],
      [`bad token ${start}…`, 'bad token [secret]…'],
      [`bad token ${start}`, 'bad token [secret]'],
      [`{"token":"${start}"}`, '{"token":"[secret]"}'],
      [`bad token ${start.slice(0, 12)}***`, 'bad token [secret]***'],
      [`bad token ${base64(start)}...`, 'bad token [secret]=...'],
      [`bad token ${base64(start).slice(0, 20)}...`, 'bad token [secret]...'],
      [`bad token ${percentAll(start)}&#8230;`, 'bad token [secret]&#8230;'],
      ['not pass-wor...', 'not [secret]...'],
    ])('masks a long beginning: %s', (text, shown) => expect(mask.mask(text)).toBe(shown));

    it.each([`no ${token.slice(0, 11)}...`, `no ${start}ly`, 'no password, no pass-wo'])(
      'leaves a short beginning, and one that goes on in another way: %s',
      (text) => expect(mask.mask(text)).toBe(text),
    );

    it('masks the beginning of one secret inside another', () => {
      const both = new SecretMask(['1234567890-abcdefgh-1234567890-1234567890', 'abcdefgh-9']);
      expect(both.mask('x 890-abcdefgh... y')).toBe('x 890-[secret]... y');
      expect(both.mask('1234567890-abcdefgh-12!')).toBe('[secret]!');
    });
  });

  it('masks many texts each for itself, whatever characters they hold', () => {
    const mask = new SecretMask([PLAIN, 'ÿÿÿÿÿÿÿÿ']);
    expect(
      mask.maskAll([
        [...PLAIN].join('\0'),
        'very-secret',
        '-token-77',
        'ÿÿÿÿ',
        'ÿÿÿÿ',
        '\ud83d',
        '\ude00\0',
        '',
      ]),
    ).toEqual([
      '[secret]',
      'very-secret',
      '-token-77',
      'ÿÿÿÿ',
      'ÿÿÿÿ',
      '\ufffd',
      '\ufffd\ufffd',
      '',
    ]);
  });

  it('leaves a text without a secret as it is', () => {
    const mask = new SecretMask([SECRET, PLAIN, user, 'abc']);
    const said =
      '{"id":"0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e","hash":"d41d8cd98f00b204e9800998ecf8427e","at":"100%","path":"C:\\\\temp"}';
    expect(mask.mask(said)).toBe(said);
  });

  it.each(Object.entries(ENCODINGS).filter(([name]) => !/case|spaces/.test(name)))(
    'shows no beginning of a secret when the cut goes through this form of it: %s',
    (_, encode) => {
      const encoded = encode(PLAIN);
      const mask = new SecretMask([PLAIN, 'ordinary-secret']);
      for (let cut = 1; cut <= encoded.length; cut += 1) {
        const shown = mask.maskStart(`${' '.repeat(20)}${encoded} and more of it`, 20 + cut);
        const [, start = ''] = /^ {20}(.*)$/s.exec(shown) ?? [];
        // What is left stands for less than the first two characters.
        const left = start.replace('[secret]', '');
        expect(left.length).toBeLessThan(encode('ve').length + 20);
        if (cut === encoded.length) expect(shown).toMatch(/\[secret\]\S{0,20}$/);
      }
    },
  );

  it('masks a secret in any form between any other text', () => {
    const encoding = fc.constantFrom(...Object.values(ENCODINGS).slice(3));
    const plain = new SecretMask([PLAIN]);
    fc.assert(
      fc.property(encoding, fc.string(), fc.string(), (encode, before, after) => {
        const shown = plain.mask(`${before} ${encode(PLAIN)} ${after}`);
        expect(shown).toContain('[secret]');
        expect(shown).not.toContain(encode(PLAIN));
      }),
      { numRuns: 300 },
    );
  });

  it('takes time in proportion to the text, and not to the number of secrets', () => {
    const took = (secrets: readonly string[], text: string): number => {
      const mask = new SecretMask(secrets);
      mask.mask('');
      const turns = [1, 2, 3].map(() => {
        // Processor time, which other processes do not add to.
        const start = process.cpuUsage();
        mask.mask(text);
        const { user, system } = process.cpuUsage(start);
        return (user + system) / 1_000;
      });
      return Math.min(...turns);
    };
    const many = Array.from({ length: 60 }, (_, index) => `${'a'.repeat(2_000 + index)}b${index}`);
    took(many, 'a'.repeat(16_384));
    const small = took(['not-there'], 'a'.repeat(16_384));
    // Compared letter by letter at each place, each of these would take thousands of times as long.
    expect(took(many, 'a'.repeat(16_384))).toBeLessThan(50 * small + 200);
    expect(took(many, 'a'.repeat(131_072))).toBeLessThan(400 * small + 1_000);
    // What can be decoded again and again, from each place; what has many escapes; what becomes longer when it is read.
    for (const text of ['V', '6', '%252541', '=3D3D41', '\\\\', '\ufdfa', '0x']) {
      const once = took(many, text.repeat(8_192 / text.length));
      expect(took(many, text.repeat(65_536 / text.length))).toBeLessThan(40 * once + 2_000);
    }
  });
});
