import { shownStart, storable } from './text.js';

describe('text that can be stored and shown', () => {
  it.each([
    ['plain é😀', 'plain é😀'],
    ['a\0b', 'a\ufffdb'],
    ['\ud83d', '\ufffd'],
    ['\ude00\ud83d', '\ufffd\ufffd'],
  ])('is made of %j', (text, expected) => expect(storable(text)).toBe(expected));

  it('is never cut within a character', () => {
    expect(shownStart('ab😀', 4)).toBe('ab😀');
    expect(shownStart('ab😀', 3)).toBe('ab\ufffd');
    expect(shownStart('a\0b', 2)).toBe('a\ufffd');
  });
});
