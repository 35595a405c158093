import { compressed, encodingFor, hasAlready, StaticFile } from './answer-transport.js';

describe('encodingFor', () => {
  it.each([
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate, gzip;q=1.0', 'gzip'],
    ['gzip;q=0.5,*;q=0', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['br , gzip; q=0.001', 'br'],
    ['*', 'br'],
    ['gzip;q=0, *', 'br'],
  ])('takes what is smallest when a client sends %p', (header, encoding) =>
    expect(encodingFor(header)).toBe(encoding),
  );

  it.each([
    undefined,
    '',
    'identity',
    'gzip;q=0',
    'gzip; q=0.000, br;q=0',
    '*;q=0',
    'deflate',
    'xgzip',
    'gzip2',
  ])('compresses nothing when it sends %p', (header) =>
    expect(encodingFor(header)).toBeUndefined(),
  );
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
    expect(compressed(bytes, 'br')).toBe(compressed(bytes, 'br'));
    expect(compressed(bytes, 'gzip')).not.toBe(compressed(bytes, 'br'));
  });
});
