import fc from 'fast-check';
import { RefusedError } from './vendor-answers.js';
import { vendorUrl } from './vendor-api.js';

const BASE = 'https://vendor.example.com/api/';

describe('vendorUrl', () => {
  it('makes one segment of each part and one value of each query value, below the base path', () => {
    const url = vendorUrl(BASE, ['users', "o'hara@example.com?x#y/z", 'move'], {
      $filter: "id eq 'a&b=c d'",
      $top: '2',
    });
    expect(url.href).toBe(
      'https://vendor.example.com/api/users/o%27hara%40example.com%3Fx%23y%2Fz/move' +
        '?$filter=id%20eq%20%27a%26b%3Dc%20d%27&$top=2',
    );
  });

  it.each(['', '.', '..', '../users', 'a/../b', '..\\b', '\ud800', 'x'.repeat(2_001)])(
    'rejects %j as a part of a path',
    (part) => {
      expect(() => vendorUrl(BASE, ['users', part])).toThrow(RefusedError);
    },
  );

  it.each(['\udc00', 'x'.repeat(2_001)])('rejects %j as a query value', (value) => {
    expect(() => vendorUrl(BASE, ['users'], { q: value })).toThrow(RefusedError);
  });

  it('preserves any text that it accepts, and leads nowhere else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        let url: URL;
        try {
          url = vendorUrl(BASE, ['users', text, 'move'], { q: text });
        } catch (error) {
          expect(error).toBeInstanceOf(RefusedError);
          return;
        }
        const segments = url.pathname.split('/').map(decodeURIComponent);
        expect(segments).toEqual(['', 'api', 'users', text, 'move']);
        expect(url.searchParams.get('q')).toBe(text);
        expect(url.origin).toBe('https://vendor.example.com');
      }),
    );
  });
});
