import { StaticFile } from './static-file.js';

describe('StaticFile', () => {
  const file = (text: string) => new StaticFile('text/plain', Buffer.from(text));

  it('has the same tag when the content is the same, and another one when it is not', () => {
    expect(file('a').etag).toBe(file('a').etag);
    expect(file('a').etag).not.toBe(file('b').etag);
  });

  it('compresses once, however many ask at a time', () => {
    const one = file('a');
    expect(one.packedAs('br')).toBe(one.packedAs('br'));
    expect(one.packedAs('gzip')).not.toBe(one.packedAs('br'));
  });
});
