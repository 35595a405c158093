import { cost, LINEAR } from '../../../test/support/cost.js';
import fc from 'fast-check';
import { SecretMask } from './secret-mask.js';

const SECRET = 'Tok/en+42 "ü"&=\\<x>~';
const PLAIN = 'very-secret-token-77';

const percentAll = (text: string): string =>
  Buffer.from(text).toString('hex').replace(/../g, '%$&');
const unicodeAll = (text: string): string =>
  Array.from(
    { length: text.length },
    (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
const user = Buffer.from('svc-user:p4ss word!').toString('base64');

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  'raw in lower case': (text) => text.toLowerCase(),
  'raw in upper case': (text) => text.toUpperCase(),
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': (text) =>
    encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
  'percent-encoded throughout': percentAll,
  'form-encoded': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  base64,
  'base64 without padding': (text) => base64(text).replaceAll('=', ''),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  hex,
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'JSON with slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  '\\uXXXX': unicodeAll,
};

describe('SecretMask', () => {
  describe.each(Object.entries(FORMS))('with a secret in this form: %s', (_, encode) => {
    it.each([SECRET, PLAIN, 'a  b  c-1', 'a%41b\\nc&amp;d', 'a%25\\\\&amp;b', '🔑🔑-key-🔑'])(
      'masks the secret %j',
      (secret) => {
        const masked = new SecretMask([secret]).mask(`before ${encode(secret)} after`);
        expect(masked).toBe('before [secret] after');
      },
    );
  });

  it.each([
    ['at the first byte of a group', ''],
    ['at the second byte of a group', '"'],
    ['at the third byte of a group', ': '],
  ])('masks a secret inside a longer text in base64, %s', (_, before) => {
    const shown = new SecretMask([PLAIN]).mask(base64(`${before}${PLAIN}" and more`));
    expect(shown).toContain('[secret]');
    const left = shown
      .split('[secret]')
      .map((part) => Buffer.from(part, 'base64').toString('latin1'));
    expect(left.join('')).not.toMatch(/ve|77/);
  });

  it.each([
    ['the whole', user],
    ['the pair', 'svc-user:p4ss word!'],
    ['the user', 'svc-user'],
    ['the password', 'p4ss word!'],
    ['the pair in base64url', Buffer.from('svc-user:p4ss word!').toString('base64url')],
  ])('masks %s of a Basic header', (_, shown) => {
    expect(new SecretMask([user]).mask(`a ${shown} b`)).toBe('a [secret] b');
  });

  it('masks a secret that is the beginning of another secret, and secrets that overlap', () => {
    for (const secrets of [
      ['abcdef', 'abcdefghij'],
      ['abcdefghij', 'abcdef'],
    ]) {
      const mask = new SecretMask(secrets);
      expect(mask.mask('x abcdefghij y abcdef z')).toBe('x [secret] y [secret] z');
      expect(mask.mask('abcdefghix')).toBe('[secret]ghix');
    }
    const mask = new SecretMask(['one-two', 'two-three', 'o-thr1']);
    expect(mask.mask('a one-two-three b')).toBe('a [secret] b');
  });

  describe('with a short secret', () => {
    const mask = new SecretMask(['Ab1', '7', 'k=9']);

    it.each([
      ['the pin is ab1.', 'the pin is [secret].'],
      ['{"pin":"Ab1","n":7}', '{"pin":"[secret]","n":[secret]}'],
      [`pin ${base64('Ab1')} ok`, 'pin [secret] ok'],
      [`pin ${hex('Ab1')} ok`, 'pin [secret] ok'],
      ['[k=9]', '[[secret]]'],
    ])('masks the secret where it is a separate word: %s', (text, shown) => {
      expect(mask.mask(text)).toBe(shown);
    });

    it.each([
      'cab1e',
      'crab1',
      'ab12',
      '77 of 17',
      'The host was isolated at 12:34:56 by 10.1.2.3.',
    ])('leaves longer words unchanged: %s', (text) => expect(mask.mask(text)).toBe(text));
  });

  it('leaves a text without a secret unchanged', () => {
    const mask = new SecretMask([SECRET, PLAIN, 'abc']);
    const text =
      '{"id":"0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e","hash":"d41d8cd98f00b204e9800998ecf8427e","at":"100%","path":"C:\\\\temp"}';
    expect(mask.mask(text)).toBe(text);
  });

  it.each(Object.entries(FORMS).filter(([name]) => !name.includes('case')))(
    'shows no part of a secret if the text is cut inside this form of the secret: %s',
    (_, encode) => {
      const encoded = encode(PLAIN);
      const mask = new SecretMask([PLAIN, 'ordinary-secret']);
      for (let cut = 1; cut <= encoded.length; cut += 1) {
        const shown = mask.maskStart(`${' '.repeat(20)}${encoded} and more of it`, 20 + cut);
        expect(shown).toBe(`${' '.repeat(20)}[secret]`);
      }
    },
  );

  it('masks a secret in each form between any other text', () => {
    const mask = new SecretMask([PLAIN]);
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(FORMS)),
        fc.string(),
        fc.string(),
        (encode, before, after) => {
          const shown = mask.mask(`${before} ${encode(PLAIN)} ${after}`);
          expect(shown).toContain('[secret]');
          expect(shown).not.toContain(encode(PLAIN));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ['in a path as this service encodes it', 'Pass*word*1234', '/x/Pass%2Aword%2A1234/y'],
    ['in a path with some characters plain', 'Sec!ret~(99/11)', '/x/Sec%21ret~(99/11)/y'],
    ['in JSON as Go escapes it', 'amp&less<than>77', '/x/amp\\u0026less\\u003cthan\\u003e77/y'],
    ['in JSON as Python escapes it', 'pässwörd-ü1', '/x/p\\u00e4ssw\\u00f6rd-\\u00fc1/y'],
    ['without its spaces at the ends', ' trailSecret1234 ', '/x/trailSecret1234/y'],
  ])('masks a secret %s', (_, secret, text) => {
    expect(new SecretMask([secret]).mask(text)).toBe('/x/[secret]/y');
  });

  it.each(Object.entries(FORMS))('masks a secret of 16,000 characters: %s', (_, encode) => {
    const secret = 'Tok/ü&'.repeat(2_700);
    expect(new SecretMask([secret]).mask(`a ${encode(secret)} b`)).toBe('a [secret] b');
  });

  it('masks the largest answer with many long secrets in linear time', async () => {
    const secrets = Array.from({ length: 60 }, (_, index) => `${index}-${'x9-'.repeat(600)}`);
    const mask = new SecretMask(secrets);
    mask.mask('');
    const work = (length: number) => mask.mask('0-x9-1'.repeat(length / 6));
    expect(await cost(work, 16_384)).toBeLessThan(LINEAR);
  });
});
