import type { Json } from '../reading/json.js';
import { firstOf, headline, levelledSeverityIn, textIn, wordIn } from './event-text.js';

describe('textIn', () => {
  it('takes the first member that is a text or a number, and of a list its first item', () => {
    const event = { a: null, b: ' ', c: ['x', 'y'], d: 7, e: [] };
    expect(textIn(event, 'a', 'b', 'c', 'd')).toBe('x');
    expect(textIn(event, 'e', 'd')).toBe('7');
    expect(textIn(event, 'a', 'e', 'constructor')).toBeUndefined();
    expect(textIn('text', 'length')).toBeUndefined();
  });
});

describe('wordIn', () => {
  it('takes texts alone', () => {
    expect(wordIn({ a: ' x ' }, 'a')).toBe('x');
    expect(wordIn({ a: 7, b: ['x'] }, 'a')).toBeUndefined();
    expect(wordIn({ b: ['x'] }, 'b')).toBeUndefined();
  });
});

describe('levelledSeverityIn', () => {
  const levelOf = (number: number) => (number > 5 ? 'high' : undefined);
  const read = (event: Json) => levelledSeverityIn(event, 'word', 'number', levelOf);

  it('has the word, the number, and what the scale makes of the number', () => {
    expect(read({ word: 'Bad', number: 9 })).toEqual({ said: 'Bad', number: 9, level: 'high' });
    expect(read({ word: 'Odd', number: '2' })).toEqual({ said: 'Odd', number: 2 });
  });

  it('says the number where there is no word, and asks no scale where there is no number', () => {
    expect(read({ number: 9 })).toEqual({ said: '9', number: 9, level: 'high' });
    expect(read({ word: 'Bad', number: {} })).toEqual({ said: 'Bad' });
    expect(read({})).toBeUndefined();
  });
});

describe('firstOf', () => {
  it('is the value itself when it is no list', () => {
    expect(firstOf({ a: 1 })).toEqual({ a: 1 });
    expect(firstOf([])).toBeUndefined();
  });
});

describe('headline', () => {
  it('says what happened, to what, and where', () => {
    expect(headline('what', 'detail', 'host', undefined, 'user')).toBe('what: detail (host, user)');
    expect(headline(undefined, 'detail', 'host')).toBe('detail (host)');
    expect(headline('what', 'what')).toBe('what');
  });

  it('is none when only the place is known', () => {
    expect(headline(undefined, undefined, 'host')).toBeUndefined();
  });

  it('is one line that can be stored, of parts that are cut', () => {
    expect(headline('a\r\n\u2028 b\tc\u0007d', '\ud800')).toBe('a b c d: \ufffd');
    expect(headline('x'.repeat(1_000_000), undefined)).toHaveLength(200);
    expect(headline(`${'x'.repeat(199)}\u{1f600}`, undefined)?.isWellFormed()).toBe(true);
  });
});
