import { boundedDetails, boundedText } from './audit-log.js';

describe('the length limit of an audit row', () => {
  it('leaves a short text unchanged', () => {
    const details = {
      severity: 'high',
      count: 3,
      nested: { list: [1, 'two', null, true] },
      words: 'a\nb "c"',
    };
    expect(JSON.parse(boundedDetails(details))).toEqual(details);
    expect(boundedText('key:collector')).toBe('key:collector');
  });

  it('marks the place where it cuts a long text', () => {
    expect(boundedText('x'.repeat(300))).toBe(`${'x'.repeat(256)}[cut: 300 characters]`);
    const { long } = JSON.parse(boundedDetails({ long: 'y'.repeat(5_000) }));
    expect(long).toBe(`${'y'.repeat(1_000)}[cut: 5000 characters]`);
  });

  it.each([
    ['many strings', { list: Array.from({ length: 100_000 }, () => 'z'.repeat(900)) }],
    [
      'many keys',
      { of: Object.fromEntries(Array.from({ length: 100_000 }, (_, key) => [`key-${key}`, key])) },
    ],
    [
      'long keys',
      { of: Object.fromEntries(Array.from({ length: 200 }, (_, n) => ['k'.repeat(9_000) + n, n])) },
    ],
    ['many empty things', { list: Array.from({ length: 100_000 }, () => ({})) }],
    ['a buffer', { bytes: Buffer.alloc(100_000) }],
  ])('cuts and marks %s', (_, details) => {
    const text = boundedDetails(details);
    expect(text.length).toBeLessThan(40_000);
    expect(text).toContain('[cut');
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  it('keeps dates and big integers, which JSON has no type for', () => {
    expect(
      JSON.parse(boundedDetails({ at: new Date(0), big: 10n ** 20n, gone: undefined })),
    ).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      big: '100000000000000000000',
    });
  });

  it('replaces characters that PostgreSQL cannot store', () => {
    expect(boundedText('a\0b\ud800c😀\udc00')).toBe('a\ufffdb\ufffdc😀\ufffd');
    expect(boundedText(`${'x'.repeat(255)}😀`)).toBe(
      `${'x'.repeat(255)}\ufffd[cut: 257 characters]`,
    );
    expect(boundedDetails({ of: { 'a\0': '\ud800' } })).toBe('{"of":{"a\ufffd":"\ufffd"}}');
  });
});
