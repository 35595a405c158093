import fc from 'fast-check';
import { safeNext } from './login-pages.js';

const HOST = 'https://this.host';

describe('safeNext', () => {
  it.each([
    ['/', '/'],
    ['/docs', '/docs'],
    ['/docs?a=b%20c&next=https://x.example#there', '/docs?a=b%20c&next=https://x.example#there'],
    ['/docs/a%20b', '/docs'],
    ['/a.b/c-d/?x', '/a.b/c-d/?x'],
    ['/a/../b', '/docs'],
    ['/\u00e4', '/docs'],
    ['/a//b', '/docs'],
  ])('given %j, returns the path %j', (next, path) => {
    expect(safeNext(next)).toBe(path);
  });

  it.each([undefined, '', `/${'a'.repeat(1_024)}`])(
    'given %j, returns the default path',
    (next) => {
      expect(safeNext(next)).toBe('/docs');
    },
  );

  it('never returns a path to another host, however the browser decodes the path', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '%2f',
      '%5c',
      '%252f',
      '.',
      '..',
      '//',
      '@',
      ':',
      'evil.example',
      '\t',
      '\n',
      '%09',
      '?',
      '#',
      ' ',
      ';',
      'https:',
      '%',
      '\u2028',
      '\uff0f',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = safeNext(pieces.join(''));
        expect(path).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
        for (const form of [path, decodeURIComponent(path.replace(/[?#].*$/, ''))]) {
          expect(new URL(form, HOST).origin).toBe(HOST);
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
