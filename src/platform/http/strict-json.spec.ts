import { cost, LINEAR } from '../../../test/support/cost.js';
import fc from 'fast-check';
import { AppError } from '../errors/app-error.js';
import { isKept, readStrictJson } from './strict-json.js';

const read = (text: string) => readStrictJson(Buffer.from(text));
const defects = (text: string) =>
  read(text).problem?.errors.map(({ field, code }) => `${field}: ${code}`) ?? [];

const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth);

describe('strict JSON', () => {
  it('parses the output of JSON.stringify like JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value);
        const strict = read(text);
        fc.pre(!/__proto__|e\+|\d{16}|\\u/.test(text));
        expect(strict).toEqual({ value: JSON.parse(text) });
      }),
      { numRuns: 500 },
    );
  });

  it('accepts every well-formed string, escaped or not', () => {
    const string = fc.string({ unit: 'binary' }).filter((s) => !s.includes('\0'));
    fc.assert(
      fc.property(fc.array(fc.dictionary(string, string)), fc.integer(), (value, indent) => {
        fc.pre(!JSON.stringify(value).includes('"__proto__"'));
        const text = JSON.stringify(value, null, indent % 4);
        const escaped = text.replace(
          /[\u007f-\uffff]/g,
          (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        expect(read(text)).toEqual({ value });
        expect(read(escaped)).toEqual({ value });
      }),
    );
  });

  it.each([
    ['', 'an empty text'],
    ['  ', 'blanks'],
    ['{', 'half an object'],
    ["{'a':1}", 'single quotes'],
    ['{"a":1}x', 'something behind it'],
    ['NaN', 'no number'],
    ['{"a":01}', 'a leading zero'],
    ['{"a":"\n"}', 'a raw control character'],
    ['\ufeff{"a":1}', 'a byte order mark'],
  ])('rejects %j as malformed: %s', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'bad_request' }) as AppError);
  });

  it.each([
    ['a byte that UTF-8 never has', [0x22, 0xff, 0x22]],
    ['an overlong NUL', [0x22, 0xc0, 0x80, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a cut character', [0x22, 0xe2, 0x82, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])('rejects %s as malformed', (_, bytes) => {
    expect(() => readStrictJson(Buffer.from(bytes))).toThrow(AppError);
  });

  it.each([
    ['{"a":"\\u0000"}', 'a: nul_character'],
    ['{"a\\u0000":1}', 'a\ufffd: nul_character'],
    ['{"a":["x","\\ud800"]}', 'a.1: lone_surrogate'],
    ['{"a":"\\uDC00\\uD800"}', 'a: lone_surrogate'],
    ['{"__proto__":{}}', '__proto__: forbidden_key'],
    ['{"a":{"\\u005f_proto__":1}}', 'a.__proto__: forbidden_key'],
    ['{"a":9007199254740993}', 'a: inexact_number'],
    ['[1,-9007199254740993]', '1: inexact_number'],
    ['{"a":1e400}', 'a: inexact_number'],
    [`{"a":${'9'.repeat(400)}.5}`, 'a: inexact_number'],
    ['{"a":1152921504606846976}', 'a: inexact_number'],
    ['{"a":18446744073709551616}', 'a: inexact_number'],
    ['{"a":12345678901234567890e5}', 'a: inexact_number'],
    ['{"a":\t9007199254740993.0}', 'a: inexact_number'],
    ['9007199254740993', ': inexact_number'],
    [nested(65), `${Array(64).fill('0').join('.')}: too_deep`],
    [`{"a":${nested(64)}}`, `a.${Array(63).fill('0').join('.')}: too_deep`],
  ])('rejects %s: %s', (text, defect) => {
    expect(defects(text)).toEqual([defect]);
  });

  it.each([
    '{"a":1.0,"b":1e3,"c":9007199254740992,"d":1e22,"e":-0,"f":1e-7,"g":0.1}',
    '{"a":1e23,"b":1.2345678901234567e+30,"c":1e308,"d":100000000000000000000}',
    '{"a":"9007199254740993","b":": 1e400, 9007199254740993"}',
    '{"a":"\\ud83d\\ude00"}',
    '{"a":"__proto__","b":"constructor prototype"}',
    '{"constructor":1,"prototype":{"a":1}}',
    '{"constructor":{"prototype":{"a":1}}}',
    '{"a":{"b":1},"c":{"b":1}}',
    '{"a":1,"a":{"b":2}}',
    '{"a":"\\\\","b":"\\"a\\":1"}',
    '{"a\\\\":1,"a\\\\\\\\":2}',
    nested(64),
    `{"a":[${'[],'.repeat(1000)}[]]}`,
  ])('accepts %s', (text) => {
    expect(read(text)).toEqual({ value: JSON.parse(text) });
  });

  it.each([
    ['{"raw":{"__proto__":1,"a":[{"constructor":{"prototype":2}}]}}', []],
    ['{"raw":[{"__proto__":"\\u0000"}]}', ['raw.0.__proto__: nul_character']],
    ['{"__proto__":{"raw":1}}', ['__proto__: forbidden_key']],
    ['{"raw":{},"other":{"__proto__":1}}', ['other.__proto__: forbidden_key']],
    ['{"other":{"raw":{"__proto__":1}}}', ['other.raw.__proto__: forbidden_key']],
  ])('accepts any key only below the field of free-form data: %s', (text, expected) => {
    const { problem } = readStrictJson(Buffer.from(text), 'raw');
    expect(problem?.errors.map(({ field, code }) => `${field}: ${code}`) ?? []).toEqual(expected);
  });

  it('reports every defect, up to the maximum number', () => {
    expect(defects('{"a":1e400,"b":"\\u0000"}')).toEqual(['a: inexact_number', 'b: nul_character']);
    expect(defects(`[${Array(1000).fill('1e400').join(',')}]`)).toHaveLength(20);
  });

  it('accepts safe integers, and larger integers only if a response contains the same digits', () => {
    // Returns the exact value of a number that JSON.stringify wrote, such as 1e+23 or 1152921504606847000.
    const exact = (text: string): bigint => {
      const [digits = '', power = '0'] = text.split('e');
      const [whole = '', fraction = ''] = digits.split('.');
      return BigInt(whole + fraction) * 10n ** BigInt(Number(power) - fraction.length);
    };
    const isAnsweredAs = (n: bigint): boolean => exact(JSON.stringify(Number(n))) === n;
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.nat(30), (n, zeros) => {
        for (const [token, value] of [
          [String(n), n],
          [`${n}.${'0'.repeat(zeros)}0`, n],
          [`${n}${'0'.repeat(zeros)}e-${zeros}`, n],
          [`${n}e${zeros}`, n * 10n ** BigInt(zeros)],
        ] as const) {
          const isSafe = Number.isSafeInteger(Number(value));
          expect(isKept(token)).toBe(isSafe || (isKept(token) && isAnsweredAs(value)));
        }
      }),
    );
  });

  it('accepts every number that JSON.stringify makes of a double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(isKept(JSON.stringify(value))).toBe(true);
      }),
    );
  });

  it.each<[string, (length: number) => string]>([
    ['arrays', (length) => '['.repeat(length / 2) + ']'.repeat(length / 2)],
    ['objects', (length) => '{"a":'.repeat(length / 6) + '1' + '}'.repeat(length / 6)],
    ['quotes', (length) => `["${'\\"'.repeat(length / 2)}"]`],
    ['backslashes', (length) => `["${'\\\\'.repeat(length / 2)}"]`],
    ['one number', (length) => `[${'9'.repeat(length)}]`],
    ['one long fraction', (length) => `[0.${'0'.repeat(length)}1,1e1]`],
    ['escaped letters', (length) => `["${'\\u0061'.repeat(length / 6)}"]`],
    ['big numbers', (length) => `[${'9007199254740993,'.repeat(length / 17)}1]`],
    ['exact big numbers', (length) => `[${'1e20,'.repeat(length / 5)}1]`],
    [
      'keys',
      (length) => `{${Array.from({ length: length / 13 }, (_, i) => `"${i}":1`).join(',')},"1":1}`,
    ],
  ])('parses a mebibyte of %s in linear time', async (_, text) => {
    const work = (length: number) => read(text(length));
    expect(await cost(work, 1_048_576)).toBeLessThan(LINEAR);
  });
});
