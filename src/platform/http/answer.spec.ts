import { acceptsGzip, hasAlready, staticFile } from './answer.js';

describe('acceptsGzip', () => {
  it.each(['gzip', 'GZIP', 'deflate, gzip;q=1.0', 'gzip;q=0.5,*;q=0', 'br , gzip; q=0.001'])(
    'is true for %p',
    (header) => expect(acceptsGzip(header)).toBe(true),
  );

  it.each([
    undefined,
    '',
    'identity',
    'br',
    'gzip;q=0, *',
    'gzip; q=0.000, br',
    '*',
    'xgzip',
    'gzip2',
  ])('is false for %p', (header) => expect(acceptsGzip(header)).toBe(false));
});

describe('hasAlready', () => {
  it.each(['W/"a"', '"a"', '"x", W/"a"', '*'])('is true if the client names %s', (header) =>
    expect(hasAlready(header, 'W/"a"')).toBe(true),
  );

  it.each([undefined, '', '"b"', 'a', 'W/"A"'])('is false if the client names %p', (header) =>
    expect(hasAlready(header, 'W/"a"')).toBe(false),
  );
});

describe('staticFile', () => {
  it('gives different contents different ETags', () => {
    const tagOf = (text: string) => staticFile('text/plain', text).etag;
    expect(tagOf('a')).toBe(tagOf('a'));
    expect(tagOf('a')).not.toBe(tagOf('b'));
  });
});
