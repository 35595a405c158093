import fc from 'fast-check';
import { rawDataErrors, rawDataJson } from './raw-data-rules.js';

const codes = (type: string, rawData: Record<string, unknown>): string[] =>
  rawDataErrors(type, rawData, JSON.stringify(rawData)).map(
    ({ field, code }) => `${field} ${code}`,
  );

const nested = (levels: number): Record<string, unknown> =>
  levels === 1 ? {} : { a: nested(levels - 1) };

describe('rawDataErrors', () => {
  it('counts levels of objects and lists alike', () => {
    expect(codes('other', nested(32))).toEqual([]);
    expect(codes('other', nested(33))).toEqual(['raw_data max_depth']);
    expect(codes('other', { a: [nested(30)] })).toEqual([]);
    expect(codes('other', { a: [nested(31)] })).toEqual(['raw_data max_depth']);
  });

  it('counts bytes of JSON, not characters', () => {
    const euro = (count: number) => ({ a: '€'.repeat(count) });
    expect(codes('other', euro(87_000))).toEqual([]);
    expect(codes('other', euro(88_000))).toEqual(['raw_data max_bytes']);
  });

  it('ignores inherited keys', () => {
    expect(codes('phishing', Object.create({ sender: 7 }) as Record<string, unknown>)).toEqual([]);
  });
});

describe('rawDataJson', () => {
  it('preserves every number, and the sign of zeros', () => {
    const number = fc.oneof(
      fc.constantFrom(0, -0, 10, 0.5, -1),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        number,
        fc.constantFrom('0', ':0,', '-0', null, true),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string({ maxLength: 4 }), tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (rawData) => {
        fc.pre(!JSON.stringify(rawData).includes('__proto__'));
        expect(JSON.parse(rawDataJson(rawData))).toEqual(rawData);
      }),
    );
  });

  it('writes everything except negative zeros like JSON.stringify', () => {
    expect(rawDataJson({ a: 0, b: [-0, '-0'], '-0': { c: -0 } })).toBe(
      '{"a":0,"b":[-0,"-0"],"-0":{"c":-0}}',
    );
  });
});
