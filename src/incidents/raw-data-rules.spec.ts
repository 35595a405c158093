import { rawDataErrors } from './raw-data-rules.js';

const codes = (type: string, rawData: Record<string, unknown>): string[] =>
  rawDataErrors(type, rawData, JSON.stringify(rawData)).map(
    ({ field, code }) => `${field} ${code}`,
  );

const nested = (levels: number): Record<string, unknown> =>
  levels === 1 ? {} : { a: nested(levels - 1) };

describe('rawDataErrors', () => {
  it('counts the levels of objects and of lists', () => {
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
