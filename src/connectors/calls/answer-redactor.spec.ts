import { OutboundAnswer } from '../../platform/net/outbound-request.js';
import { AnswerRedactor } from './vendor-answers.js';

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

  it('masks each text separately, whatever characters it contains', () => {
    const said = ['hidden-', 'token-1', 'a\0b', '\\', '%', '"', '', '\ud800', 'hidden\0-token-1'];
    const shown = ['hidden-', 'token-1', 'a\ufffdb', '\\', '%', '"', '', '\ufffd'];
    expect(text.data(answer(JSON.stringify(said)))).toEqual([...shown, '[secret]']);
  });

  it('shows no beginning of a secret that is cut', () => {
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

  it('confirms no guess of the first letters of a secret, wherever the text is cut', () => {
    const said = (guess: string, filler: string, cut: number) => {
      const before = 'no: '.padEnd(cut - guess.length, filler);
      return text.excerpt(answer(`${before}${guess} more${'x'.repeat(2_000)}`, 'text/plain'));
    };
    // Where the shown text and the read text end.
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

  it('masks a secret whose spaces were collapsed', () => {
    const spaced = new AnswerRedactor(['a  secret   with spaces']);
    const shown = spaced.excerpt(answer('no: a secret with\n\nspaces!', 'text/plain'));
    expect(shown).toBe('no: [secret]!');
  });
});
