import {
  AnswerShapeError,
  booleanAt,
  listAt,
  numberAt,
  textAt,
  valueAt,
} from './vendor-answers.js';

const ANSWER: unknown = JSON.parse(
  '{"a": {"text": "x", "empty": "", "n": 0, "yes": false, "list": [], "null": null}, "__proto__": {"b": 1}}',
);

describe('a required value of an answer', () => {
  it('is read by its path', () => {
    expect(textAt(ANSWER, 'a', 'text')).toBe('x');
    expect(numberAt(ANSWER, 'a', 'n')).toBe(0);
    expect(booleanAt(ANSWER, 'a', 'yes')).toBe(false);
    expect(listAt(ANSWER, 'a', 'list')).toEqual([]);
    expect(numberAt(ANSWER, '__proto__', 'b')).toBe(1);
  });

  it.each<[string, () => unknown]>([
    ['no text at a.n', () => textAt(ANSWER, 'a', 'n')],
    ['no text at long', () => textAt({ long: 'x'.repeat(16_385) }, 'long')],
    ['no text at a.empty', () => textAt(ANSWER, 'a', 'empty')],
    ['no text at constructor.name', () => textAt(ANSWER, 'constructor', 'name')],
    ['no number at a.text', () => numberAt(ANSWER, 'a', 'text')],
    ['no true or false at a.null', () => booleanAt(ANSWER, 'a', 'null')],
    ['no list at a', () => listAt(ANSWER, 'a')],
    ['no list at a.text.b', () => listAt(ANSWER, 'a', 'text', 'b')],
  ])('is named in the error if there is %s', (what, read) => {
    const error = new AnswerShapeError(`The answer is not as documented: it has ${what}.`);
    expect(read).toThrow(error);
  });

  it('is found only among own properties', () => {
    expect(valueAt(ANSWER, 'toString')).toBeUndefined();
    expect(valueAt([1], '0')).toBeUndefined();
  });
});
