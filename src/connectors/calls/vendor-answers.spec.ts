import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { OutboundAnswer } from '../../platform/net/outbound-request.js';
import {
  AnswerRedactor,
  booleanAt,
  listAt,
  numberAt,
  shownData,
  shownMessage,
  textAt,
  valueAt,
} from './vendor-answers.js';

const ANSWER: unknown = JSON.parse(
  '{"a": {"text": "x", "empty": "", "n": 0, "yes": false, "list": [], "null": null}, "__proto__": {"b": 1}}',
);

describe('a required value in a vendor answer', () => {
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
  ])('is missing if the answer has %s, and the error says so', (what, read) => {
    const error = new OutcomeUnknownError(
      `The answer is not as documented: it has ${what}.`,
      'broken',
    );
    expect(read).toThrow(error);
  });

  it('is never an inherited property', () => {
    expect(valueAt(ANSWER, 'toString')).toBeUndefined();
    expect(valueAt([1], '0')).toBeUndefined();
  });
});

const SECRET = 'hidden-token-1';
const text = new AnswerRedactor([SECRET, '4711']);

function answer(body: string, type = 'application/json'): OutboundAnswer {
  return new OutboundAnswer(200, { 'content-type': type }, Buffer.from(body));
}

describe('AnswerRedactor', () => {
  it('masks texts, keys and numbers at any depth, and changes nothing else', () => {
    const said = {
      ok: true,
      none: null,
      count: 12,
      pin: 4711,
      [`key of ${SECRET}`]: [{ deep: `a ${SECRET}` }, 'plain', 1.5, []],
      [SECRET]: {},
    };
    expect(text.data(answer(JSON.stringify(said)))).toEqual({
      ok: true,
      none: null,
      count: 12,
      pin: '[secret]',
      'key of [secret]': [{ deep: 'a [secret]' }, 'plain', 1.5, []],
      '[secret]': {},
    });
  });

  it('masks each text separately, with any characters', () => {
    const said = ['hidden-', 'token-1', 'a\0b', '\\', '%', '"', '', '\ud800', SECRET];
    const shown = ['hidden-', 'token-1', 'a\ufffdb', '\\', '%', '"', '', '\ufffd'];
    expect(text.data(answer(JSON.stringify(said)))).toEqual([...shown, '[secret]']);
  });

  it('shows no part of a secret that the length limit cuts', () => {
    for (let before = 180; before <= 201; before += 1) {
      const shown = text.excerpt(answer(`${'x'.repeat(before)} ${SECRET} more`, 'text/plain'));
      expect(shown).not.toContain('hidd');
      expect(shown.length).toBeLessThanOrEqual(201);
    }
    for (let before = 16_370; before <= 16_384; before += 1) {
      const shown = text.excerpt(answer(`${' '.repeat(before)}${SECRET} more`, 'text/plain'));
      expect(shown).toMatch(/^(\[secret\])?( m?o?r?)?$/);
    }
  });

  it('does not reveal whether a guess of the first letters of a secret is right, wherever the text is cut', () => {
    const said = (guess: string, filler: string, cut: number) => {
      const before = 'no: '.padEnd(cut - guess.length, filler);
      return text.excerpt(answer(`${before}${guess} more${'x'.repeat(2_000)}`, 'text/plain'));
    };
    // Positions around the ends of the shown text and of the read text.
    const cuts = [16_383, 16_384, 16_385, 17_396, 17_408];
    for (const filler of [' ', '+', '\u200b', '\x1b']) {
      for (const cut of cuts) {
        for (const length of [1, 2, 8]) {
          const right = said(SECRET.slice(0, length), filler, cut);
          expect(right).not.toContain('[secret]');
          expect(right).toHaveLength(said('zzzzzzzz'.slice(0, length), filler, cut).length);
        }
      }
    }
  });
});

describe('the shown texts of vendors', () => {
  it('have a limited size, even if the vendor sends very long or deeply nested data', () => {
    expect(shownMessage('x'.repeat(1_000_000))).toHaveLength(1_000);
    const much = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n, 'x'.repeat(9_000)]));
    const shown = shownData(much)!;
    expect(shown['0']).toHaveLength(1_000);
    expect(JSON.stringify(shown).length).toBeLessThan(80_000);
    let deep: unknown = 'end';
    for (let level = 0; level < 5_000; level += 1) deep = { deep };
    expect(JSON.stringify(shownData({ deep }))).toContain('[too deep]');
  });

  it('make invisible characters visible, and contain no character that the database rejects', () => {
    const said = 'a\0b \ud800 \u202egnp.exe \x1b[31mRED\x07 \u2028 \ufeff x\ry\r\nz\t\u{e0041}';
    const seen =
      'a\ufffdb \ufffd ⟦U+202E⟧gnp.exe ⟦U+001B⟧[31mRED⟦U+0007⟧ ⟦U+2028⟧ ⟦U+FEFF⟧ x⟦U+000D⟧y\r\nz\t⟦U+E0041⟧';
    expect(shownMessage(said)).toBe(seen);
    expect(shownData({ ['\u202ea']: [{ b: said }] })).toEqual({ '⟦U+202E⟧a': [{ b: seen }] });
    expect(shownMessage('\x1b'.repeat(2_000))).toHaveLength(1_000);
  });

  it('are otherwise unchanged', () => {
    const data = JSON.parse(
      '{"id":"1","changed":true,"n":1.5,"none":null,"l":[],"__proto__":{"a":"b"}}',
    );
    expect(shownData(data)).toEqual(data);
    expect(Object.keys(shownData(data)!)).toContain('__proto__');
    for (const text of ['Zoë 👩‍💻 ❤️', 'می‌خواهم', 'two\nlines'])
      expect(shownMessage(text)).toBe(text);
    expect(shownData(undefined)).toBeUndefined();
  });
});
