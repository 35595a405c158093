import { acceptsGzip, compressed, hasAlready, StaticFile } from './answer-transport.js';

describe('acceptsGzip', () => {
  it.each([
    'gzip',
    'GZIP',
    'deflate, gzip;q=1.0',
    'gzip;q=0.5,*;q=0',
    'br;q=0, *',
    'br , gzip; q=0.001',
    '*',
  ])('is true for %p', (header) => expect(acceptsGzip(header)).toBe(true));

  it.each([
    undefined,
    '',
    'identity',
    'br',
    'gzip;q=0, *',
    'gzip; q=0.000, br',
    '*;q=0',
    'xgzip',
    'gzip2',
  ])('is false for %p', (header) => expect(acceptsGzip(header)).toBe(false));
});

describe('hasAlready', () => {
  it.each(['W/"a"', '"a"', '"x", W/"a"', '*'])('is true when a client names %s', (header) =>
    expect(hasAlready(header, 'W/"a"')).toBe(true),
  );

  it.each([undefined, '', '"b"', 'a', 'W/"A"'])('is false when it names %p', (header) =>
    expect(hasAlready(header, 'W/"a"')).toBe(false),
  );
});

describe('StaticFile', () => {
  const file = (text: string) => new StaticFile('text/plain', Buffer.from(text));

  it('has the same tag when the content is the same, and another one when it is not', () => {
    expect(file('a').etag).toBe(file('a').etag);
    expect(file('a').etag).not.toBe(file('b').etag);
  });

  it('compresses once, however many ask at a time', () => {
    const { bytes } = file('a');
    expect(compressed(bytes)).toBe(compressed(bytes));
  });
});
