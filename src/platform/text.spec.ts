import { cost, LINEAR } from '../../test/support/cost.js';
import { nfkc, shownStart, storable } from './text.js';

describe('storable text', () => {
  it.each([
    ['plain é😀', 'plain é😀'],
    ['a\0b', 'a\ufffdb'],
    ['\ud83d', '\ufffd'],
    ['\ude00\ud83d', '\ufffd\ufffd'],
  ])('can be made from %j', (text, expected) => expect(storable(text)).toBe(expected));

  it('is never split within a character', () => {
    expect(shownStart('ab😀', 4)).toBe('ab😀');
    expect(shownStart('ab😀', 3)).toBe('ab\ufffd');
    expect(shownStart('a\0b', 2)).toBe('a\ufffd');
  });
});

describe('nfkc', () => {
  it.each([
    ['ｆｕｌｌ ﬁt', 'full fit'],
    ['e\u0301', 'é'],
    ['ﾊﾞ', 'バ'],
    ['ế and ệ', 'ế and ệ'],
    ['\ud800a\0', '\ud800a\0'],
  ])('is the same for equivalent texts: %j', (text, expected) =>
    expect(nfkc(text)).toBe(expected.normalize('NFC')),
  );

  it('keeps eight marks on a letter, as many as any script uses', () => {
    const eight = `b${'\u0316'.repeat(8)}`;
    expect(nfkc(eight)).toBe(eight);
    expect(nfkc(`${eight}\u0301\u0316\uff9e c\u0316`)).toBe(`${eight} c\u0316`);
  });

  it.each([
    ['marks of two classes', '\u0301\u0316'],
    ['marks that are made of marks', '\u0344\u0316'],
    ['half-width signs that become marks', '\u0301\uff9e'],
    ['marks of Tibetan', '\u0f71\u0f72\u0f74'],
    ['marks beyond the basic plane', '\u{1d165}\u0301'],
  ])('needs linear time for endless %s', async (_, marks) => {
    const text = (length: number) => `a${marks.repeat(length / marks.length)}`;
    expect(nfkc(text(500_000)).length).toBeLessThan(32);
    expect(await cost((length) => nfkc(text(length)), 500_000)).toBeLessThan(LINEAR);
  });
});
