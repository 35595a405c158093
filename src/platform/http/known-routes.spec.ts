import fc from 'fast-check';
import { withReadablePath } from './known-routes.js';

const NONE = '%EF%BF%BD';

describe('withReadablePath', () => {
  it.each([
    ['/a/b?c=%', '/a/b?c=%'],
    ['/a%20b/%C3%A9%f0%9f%98%80/%2F', '/a%20b/%C3%A9%f0%9f%98%80/%2F'],
    ['/%', `/${NONE}`],
    ['/a/%zz?x=%ff', `/a/${NONE}zz?x=%ff`],
    ['/a%20b/%ff', `/a${NONE}b/${NONE}`],
    ['/a/%ff%fe/b', `/a/${NONE}${NONE}/b`],
    ['/a/%c3x', `/a/${NONE}x`],
    ['/a/x%00', `/a/x${NONE}`],
    ['/%ed%a0%80', `/${NONE}${NONE}${NONE}`],
    ['/api/incidents/', `/api/${NONE}`],
    ['/api//a///?b=//', `/api/${NONE}?b=//`],
    ['/docs//', '/docs//'],
    ['*', '*'],
    ['', ''],
  ])('converts %j to %j', (url, expected) => {
    expect(withReadablePath(url)).toBe(expected);
  });

  it('returns a path that can be decoded, and keeps a path that can be decoded already', () => {
    const part = fc.oneof(fc.string(), fc.constantFrom('%', '%f', '%ff', '%41', '%00', '%c3%a9'));
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const path = `/${parts.join('').replaceAll('?', '')}`;
        expect(decodeURIComponent(withReadablePath(path))).not.toMatch(/%00/);
        expect(withReadablePath(encodeURI(path).replaceAll('%00', ''))).toBe(
          encodeURI(path).replaceAll('%00', ''),
        );
      }),
    );
  });
});
