import { parsePointer, pointerTo, resolvePointer } from './json-pointer.js';

/** Example document of RFC 6901, section 5. */
const DOCUMENT = {
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
  it.each<[string, unknown]>([
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
  ])('resolves as in RFC 6901: %j', (pointer, value) => {
    expect(resolvePointer(DOCUMENT, pointer)).toEqual(value);
  });

  it('reads ~01 as ~1, and not as a slash', () => {
    expect(resolvePointer({ '~1': 'tilde', '/': 'slash' }, '/~01')).toBe('tilde');
  });

  it.each(['foo', ' /foo', '#/foo', '/a~', '/a~2b', '/~/x', '~0'])('cannot be %j', (text) => {
    expect(parsePointer(text)).toBeUndefined();
    expect(resolvePointer(DOCUMENT, text)).toBeUndefined();
  });

  it.each(['/foo/-', '/foo/00', '/foo/01', '/foo/-1', '/foo/1.0', '/foo/1e0', '/foo/2', '/foo/ 1'])(
    'resolves to nothing in a list: %j',
    (pointer) => {
      expect(resolvePointer(DOCUMENT, pointer)).toBeUndefined();
    },
  );

  it.each(['/foo/length', '/constructor', '/__proto__', '/toString/name', '/a~1b/0', '/foo/0/0'])(
    'resolves neither in a prototype nor in a text or number: %j',
    (pointer) => {
      expect(resolvePointer(DOCUMENT, pointer)).toBeUndefined();
    },
  );

  it('finds an own key with the name of a prototype member', () => {
    expect(resolvePointer(JSON.parse('{"__proto__":{"a":1}}'), '/__proto__/a')).toBe(1);
  });

  it('distinguishes null from a missing value', () => {
    expect(resolvePointer({ a: null }, '/a')).toBeNull();
    expect(resolvePointer({ a: null }, '/a/b')).toBeUndefined();
  });

  it.each(['plain', 'a/b', 'm~n', '~1', '', '__proto__'])(
    'from the key %j resolves to the value of that key',
    (key) => {
      const value = JSON.parse(`{"x":{${JSON.stringify(key)}:7}}`) as unknown;
      expect(resolvePointer(value, pointerTo('/x', key))).toBe(7);
    },
  );
});
