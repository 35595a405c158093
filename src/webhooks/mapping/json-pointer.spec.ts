import type { Json } from '../reading/json.js';
import { parsePointer, resolve } from './json-pointer.js';

const at = (value: Json, pointer: string) => resolve(value, parsePointer(pointer)!);

/** The document of RFC 6901, section 5. */
const DOCUMENT: Json = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

describe('A JSON pointer', () => {
  it.each<[string, Json]>([
    ['', DOCUMENT],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('leads where RFC 6901 says: %j', (pointer, value) => {
    expect(at(DOCUMENT, pointer)).toEqual(value);
  });

  it('reads ~01 as ~1, and not as a slash', () => {
    expect(at({ '~1': 'tilde', '/': 'slash' }, '/~01')).toBe('tilde');
  });

  it.each(['foo', ' /foo', '#/foo', '/a~', '/a~2b', '/~/x', '~0'])('is not %j', (text) => {
    expect(parsePointer(text)).toBeUndefined();
  });

  it.each(['/foo/-', '/foo/00', '/foo/01', '/foo/-1', '/foo/1.0', '/foo/1e0', '/foo/2', '/foo/ 1'])(
    'leads nowhere in a list when it is %j',
    (pointer) => {
      expect(at(DOCUMENT, pointer)).toBeUndefined();
    },
  );

  it.each(['/foo/length', '/constructor', '/__proto__', '/toString/name', '/a~1b/0', '/foo/0/0'])(
    'sees no prototype and goes into no text or number: %j',
    (pointer) => {
      expect(at(DOCUMENT, pointer)).toBeUndefined();
    },
  );

  it('finds a key that is called like a part of the prototype when the value has it', () => {
    expect(at(JSON.parse('{"__proto__":{"a":1}}') as Json, '/__proto__/a')).toBe(1);
  });

  it('does not look into a number that is kept as its digits', () => {
    const exact = JSON.rawJSON('12345678901234567890');
    expect(at({ n: exact }, '/n')).toBe(exact);
    expect(at({ n: exact }, '/n/rawJSON')).toBeUndefined();
  });

  it('tells null from nothing', () => {
    expect(at({ a: null }, '/a')).toBeNull();
    expect(at({ a: null }, '/a/b')).toBeUndefined();
  });
});
