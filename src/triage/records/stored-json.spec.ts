import { storedJson, upTo } from './stored-json.js';

describe('storedJson', () => {
  it('keeps a value that is small and harmless', () => {
    const value = { text: 'x', number: 1.5, flag: true, none: null, list: [1, 'a', { b: 'c' }] };
    expect(storedJson(value, 100)).toEqual(value);
  });

  it('replaces NUL and half of a surrogate pair, also in keys', () => {
    expect(storedJson({ 'k\0': 'a\0b\ud800' }, 100)).toEqual({ 'k\ufffd': 'a\ufffdb\ufffd' });
  });

  it('keeps a key with the name of a prototype as an own key', () => {
    const stored = storedJson(JSON.parse('{"__proto__": {"admin": true}}') as object, 100);
    expect(JSON.stringify(stored)).toBe('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(stored)).toBe(Object.prototype);
  });

  it('cuts long texts, long lists and deep values', () => {
    expect(storedJson('x'.repeat(4_001), 9_000)).toBe('x'.repeat(4_000));
    expect(storedJson(Array<number>(101).fill(1), 9_000)).toEqual(Array(100).fill(1));
    const deep = JSON.parse(`${'['.repeat(99)}${']'.repeat(99)}`) as unknown;
    expect(JSON.stringify(storedJson(deep, 100))).toBe(`${'['.repeat(14)}null${']'.repeat(14)}`);
  });

  it('keeps no more characters than allowed, and no endless list of empty texts', () => {
    const texts = Array.from({ length: 5 }, () => 'x'.repeat(30));
    expect(storedJson(texts, 50).join('').length).toBeLessThanOrEqual(50);
    expect(storedJson(Array<string>(100).fill(''), 20)).toHaveLength(20);
  });
});

describe('upTo', () => {
  it('keeps the first items that fit', () => {
    const items = [{ a: 'x' }, { a: 'y' }, { a: 'z'.repeat(99) }, { a: 'w' }];
    expect(upTo(1_000, items)).toEqual(items);
    expect(upTo(50, items)).toEqual(items.slice(0, 2));
    expect(upTo(0, items)).toEqual([]);
  });
});
