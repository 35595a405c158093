import { storedJson, storedRecords } from './stored-json.js';

const ROOM = { characters: 100, longestText: 20, items: 5, depth: 3 };

describe('what is stored of a value', () => {
  it('is the value where that is small and harmless', () => {
    const value = { text: 'x', number: 1.5, flag: true, none: null, list: [1, 'a', { b: 'c' }] };
    expect(storedJson(value, ROOM)).toEqual(value);
  });

  it('has no NUL and no half of a surrogate pair, in keys neither', () => {
    expect(storedJson({ 'k\0': 'a\0b\ud800' }, ROOM)).toEqual({ 'k\ufffd': 'a\ufffdb\ufffd' });
  });

  it('has a key that is called like a prototype as a key of its own', () => {
    const stored = storedJson(JSON.parse('{"__proto__": {"admin": true}}') as object, ROOM);
    expect(JSON.stringify(stored)).toBe('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(stored)).toBe(Object.prototype);
  });

  it('is cut where a text is too long, a list has too many items or the nesting is too deep', () => {
    expect(storedJson('x'.repeat(21), ROOM)).toBe('x'.repeat(20));
    expect(storedJson([1, 2, 3, 4, 5, 6], ROOM)).toEqual([1, 2, 3, 4, 5]);
    expect(storedJson([[[[1]]]], ROOM)).toEqual([[[null]]]);
  });

  it('has no more characters in all than there is room for', () => {
    const stored = storedJson(
      Array.from({ length: 5 }, () => 'x'.repeat(30)),
      {
        ...ROOM,
        characters: 50,
      },
    );
    expect(stored.join('').length).toBeLessThanOrEqual(50);
  });

  it('ends soon for endless lists of empty texts', () => {
    const many = { ...ROOM, items: Number.MAX_SAFE_INTEGER };
    expect(
      storedJson(
        Array.from({ length: 100_000 }, () => ''),
        many,
      ).length,
    ).toBeLessThan(101);
  });

  it('has null for numbers that JSON does not know, and for functions', () => {
    expect(storedJson([Number.NaN, Infinity, () => 1, 10n], ROOM)).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

describe('what is stored of a list of records', () => {
  const record = (text: string) => ({ text, more: [text], number: 1 });

  it('is all of them where there is room', () => {
    const records = [record('a'), record('b')];
    expect(storedRecords(records, ROOM)).toEqual(records);
    expect(
      storedRecords(
        Array.from({ length: 9 }, () => ({ n: 1 })),
        ROOM,
      ),
    ).toHaveLength(5);
  });

  it('is those that have room for every field, and none in part', () => {
    const records = Array.from({ length: 5 }, () => record('x'.repeat(15)));
    const stored = storedRecords(records, ROOM);
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.length).toBeLessThan(5);
    for (const one of stored) expect(Object.keys(one)).toEqual(['text', 'more', 'number']);
  });

  it('has its texts cut as everywhere', () => {
    expect(storedRecords([record('x'.repeat(50))], ROOM)[0]!.text).toBe('x'.repeat(20));
  });
});
