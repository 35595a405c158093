import { cost, LINEAR } from '../../../test/support/cost.js';
import fc from 'fast-check';
import { MOST_RAW_DATA_LEVELS, rawDataErrors } from '../../incidents/raw-data-rules.js';
import { type Json, readEventJson } from './event-json.js';

const read = (text: string): Json => readEventJson(Buffer.from(text));
const written = (text: string): string => JSON.stringify(read(text));
const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth);
/** Adds a number that JSON.parse would change, so that the text is parsed with a reviver. */
const withOddity = (text: string): string => `[${text},-0]`;

describe('the JSON reader for events', () => {
  it('returns the result of JSON.parse, with and without a reviver', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        fc.pre(!/\\u/.test(text));
        expect(read(text)).toEqual(JSON.parse(text));
        expect(read(withOddity(text))).toEqual([JSON.parse(text), JSON.rawJSON('-0')]);
        expect(written(withOddity(text))).toBe(`[${JSON.stringify(JSON.parse(text))},-0]`);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps text, escaped or not', () => {
    const string = fc.string({ unit: 'binary' }).filter((s) => !s.includes('\0'));
    fc.assert(
      fc.property(fc.array(fc.dictionary(string, string)), (value) => {
        const text = JSON.stringify(value);
        const escaped = text.replace(
          /[\u007f-\uffff]/g,
          (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        expect(read(escaped)).toEqual(JSON.parse(text));
        expect(read(withOddity(text))).toEqual([JSON.parse(text), JSON.rawJSON('-0')]);
      }),
    );
  });

  it.each([
    '',
    ' ',
    '\ufeff',
    '\ufeff\ufeff{}',
    '{',
    '{"a":1}x',
    "{'a':1}",
    'NaN',
    '-',
    '01',
    '1.',
    '["\u0001"]',
    '["\\x"]',
    '[1,]',
    'a=b',
    '<xml/>',
  ])('rejects %j, which is not JSON', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });

  it('rejects a megabyte of opening brackets', () => {
    for (const text of ['['.repeat(1_000_000), '{"a":'.repeat(200_000)]) {
      expect(() => read(text)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    }
  });

  it('reads any value, even after a byte order mark', () => {
    for (const text of ['null', 'true', '"a"', '1', '[]', '{}']) {
      expect(read(`\ufeff${text}`)).toEqual(JSON.parse(text));
    }
    expect(read('"\ufeff"')).toBe('\ufeff');
  });

  it('replaces invalid UTF-8 by U+FFFD', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":"'),
      Buffer.from([0xff, 0xc0]),
      Buffer.from('"}'),
    ]);
    expect(readEventJson(bytes)).toEqual({ a: '\ufffd\ufffd' });
    const surrogate = Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]);
    expect((readEventJson(surrogate) as string).isWellFormed()).toBe(true);
  });

  it.each([
    ['0', 0],
    ['-1', -1],
    ['0.1', 0.1],
    ['1.50', 1.5],
    ['1e2', 100],
    ['1E-7', 1e-7],
    ['1e300', 1e300],
    ['0e999999999999', 0],
    ['9007199254740991', 9007199254740991],
    ['5e-324', 5e-324],
    ['1000000000000000000000', 1e21],
  ])('reads %s as a number', (token, value) => {
    expect(read(`{"n":${token}}`)).toEqual({ n: value });
  });

  it.each([
    '-0',
    '-0.0',
    '-0e5',
    '9007199254740993',
    '18446744073709551615',
    '12345678901234567890.5',
    '0.1000000000000000055511151231257827',
    '1.00000000000000001',
    '1e400',
    '-1e400',
    '1e-400',
    '3e-324',
    `1${'0'.repeat(310)}`,
    '123456789012345678e3',
  ])('keeps the digits of %s, which JavaScript would change', (token) => {
    for (const text of [token, `{"n":${token}}`, `[1, ${token} ]`]) {
      expect(written(text)).toBe(text.replaceAll(' ', ''));
    }
    expect(JSON.isRawJSON(read(token))).toBe(true);
  });

  it('keeps the value of all integers and fractions', () => {
    const digits = fc.stringMatching(/^[1-9]\d{0,30}$/);
    const token = fc.tuple(digits, fc.stringMatching(/^(\.\d{1,25})?(e[+-]?\d{1,2})?$/));
    fc.assert(
      fc.property(token, ([whole, rest]) => {
        const value = read(`[${whole}${rest}]`) as readonly Json[];
        const said = JSON.stringify(value[0]);
        expect(decimal(said)).toEqual(decimal(`${whole}${rest}`));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['"a\\u0000b"', 'a\\u0000b'],
    ['"\\ud800"', '\\ud800'],
    ['"\\uDC00x"', '\\udc00x'],
    ['"\\ud800\\ud83d\\ude00"', '\\ud800😀'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\\\u0000"', '\\u0000'],
    ['{"a\\u0000":{"\\udfff":1}}', { 'a\\u0000': { '\\udfff': 1 } }],
  ])('makes unstorable characters visible in %s', (text, value) => {
    expect(read(text)).toEqual(value);
    expect(written(text).isWellFormed()).toBe(true);
  });

  it('returns no characters that the database cannot store, even if the text contains escape sequences for them', () => {
    const unit = fc.nat(0xffff).map((code) => `\\u${code.toString(16).padStart(4, '0')}`);
    const odd = fc.constantFrom('\\u0000', '\\ud800', '\\udfff', '\\\\', '\\"', '\\u005f');
    const text = fc.array(fc.oneof(unit, odd)).map((units) => `"${units.join('')}"`);
    fc.assert(
      fc.property(text, text, (key, value) => {
        const all = [read(value) as string, Object.keys(read(`{${key}:[${value}]}`) as object)[0]!];
        for (const one of all)
          expect([one.isWellFormed(), one.includes('\0')]).toEqual([true, false]);
      }),
    );
  });

  it('uses the last of duplicate keys', () => {
    expect(written('{"a":1,"b":2,"a":3}')).toBe('{"a":3,"b":2}');
    expect(written('{"a":1,"b":-0,"a":[3]}')).toBe('{"a":[3],"b":-0}');
    expect(written('{"__proto__":1,"b":-0,"__proto__":2}')).toBe('{"__proto__":2,"b":-0}');
  });

  it.each([
    '{"__proto__":{"a":1}}',
    '{"__proto__":{"a":1},"n":-0}',
    '{"n":[{"__proto__":null}],"m":-0}',
  ])('treats __proto__ as a normal key in %s', (text) => {
    expect(written(text)).toBe(text);
    expect(Object.getPrototypeOf(read(text))).toBe(Object.prototype);
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it('converts values that are nested too deeply into text, and leaves one level for an object around the event', () => {
    const deepest = MOST_RAW_DATA_LEVELS - 1;
    expect(written(nested(deepest))).toBe(nested(deepest));
    expect(written(nested(deepest + 1, '1'))).toBe(nested(deepest, '"[1]"'));
    const inner = '{"a]":"\\"}\\u0000", "b":[[-0]]}';
    const text = `${'{"a":'.repeat(deepest)}${inner}${'}'.repeat(deepest)}`;
    expect(written(text)).toBe(
      `${'{"a":'.repeat(deepest)}${JSON.stringify(inner)}${'}'.repeat(deepest)}`,
    );
    const event = { event: read(nested(100)) };
    expect(rawDataErrors('other', event, JSON.stringify(event))).toEqual([]);
  });

  it('keeps siblings of values that are too deep', () => {
    const list = `${'['.repeat(31)}{},[1],{"a":[]},2${']'.repeat(31)}`;
    expect(written(list)).toBe(`${'['.repeat(31)}"{}","[1]","{\\"a\\":[]}",2${']'.repeat(31)}`);
  });

  it.each<[string, (length: number) => string]>([
    ['lists in lists', (length) => nested(length / 2)],
    ['objects in objects', (length) => `${'{"":'.repeat(length / 5)}-0${'}'.repeat(length / 5)}`],
    ['many lists too deep', (length) => nested(31, `${'[],'.repeat(length / 3)}[]`)],
    [
      'tiny keys',
      (length) =>
        `{${Array.from({ length: length / 10 }, (_, at) => `"${at.toString(36)}":0`).join()},"n":-0}`,
    ],
    ['the same key', (length) => `{${'"a":0,'.repeat(length / 6)}"n":-0}`],
    ['tiny objects', (length) => `[${'{},'.repeat(length / 3)}-0]`],
    ['exponents', (length) => `[${'10000e1,'.repeat(length / 8)}1]`],
    ['long numbers', (length) => `[${'12345678901234567,'.repeat(length / 18)}1]`],
    ['one long number', (length) => '9'.repeat(length)],
    ['zeros', (length) => `0.${'0'.repeat(length)}1`],
    ['backslashes', (length) => `"${'\\\\'.repeat(length / 2)}\\u0000"`],
    ['escaped quotes', (length) => `["${'\\"'.repeat(length / 2)}",-0]`],
    ['lone surrogates', (length) => `"${'\\ud800'.repeat(length / 6)}"`],
    ['blanks', (length) => `${' '.repeat(length)}-0`],
  ])('reads a megabyte of %s in linear time', async (_, text) => {
    expect(JSON.stringify(read(text(1_000_000))).length).toBeGreaterThan(1);
    expect(await cost((length) => read(text(length)), 1_000_000)).toBeLessThan(LINEAR);
  });
});

/** Returns the exact value of a JSON number: its digits without zeros at both ends, and the power of ten. */
function decimal(token: string): readonly [string, number] {
  const [, whole = '', fraction = '', power = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(
    token,
  )!;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  return [kept, Number(power) - fraction.length + digits.length - kept.length];
}
