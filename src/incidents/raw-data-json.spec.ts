import fc from 'fast-check';
import { rawDataJson } from './raw-data-json.js';

describe('rawDataJson', () => {
  it('should give back every number, zeros with their sign', () => {
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

  it('should write everything but a negative zero as JSON.stringify does', () => {
    expect(rawDataJson({ a: 0, b: [-0, '-0'], '-0': { c: -0 } })).toBe(
      '{"a":0,"b":[-0,"-0"],"-0":{"c":-0}}',
    );
  });
});
