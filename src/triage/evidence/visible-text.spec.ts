import { cost, LINEAR } from '../../../test/support/cost.js';
import { plainJson, visibleText, withoutHidden } from './visible-text.js';

const TAGS = String.fromCodePoint(...[...'obey'].map((letter) => 0xe0000 + letter.charCodeAt(0)));

describe('visibleText', () => {
  it.each([
    ['one character', 'a\u200bb', 'a⟦U+200B⟧b'],
    ['a run of one kind', `a${'\u200b'.repeat(14)}b`, 'a⟦U+200B×14⟧b'],
    ['a run of several kinds', 'a\u200b\u200d\u2060b', 'a⟦U+200B U+200D U+2060×3⟧b'],
    ['tag characters', `a${TAGS}b`, 'a⟦U+E006F U+E0062 U+E0065×4⟧b'],
    ['a change of direction', 'gpj\u202eexe', 'gpj⟦U+202E⟧exe'],
    ['NUL', 'a\0b', 'a⟦U+0000⟧b'],
    ['half of a pair', 'a\ud800b', 'a⟦U+D800⟧b'],
    ['a private character', 'a\ue000b', 'a⟦U+E000⟧b'],
    ['a filler that looks like a space', 'a\u3164b', 'a⟦U+3164⟧b'],
    ['a separator of lines', 'a\u2028b', 'a⟦U+2028⟧b'],
    ['an imitated mark', 'a⟦U+200B⟧', 'a⟦U+27E6⟧U+200B⟧'],
  ])('shows %s', (_, text, visible) => {
    expect(visibleText(text)).toBe(visible);
  });

  it.each(['plain text', 'lines\r\nand\ttabs', '漢字 and ünïcode', '👍🏽 ❤️ 👩‍💻 👨‍👩‍👧', ''])(
    'leaves %j unchanged',
    (text) => {
      expect(visibleText(text)).toBe(text);
    },
  );

  it('shows a joiner that joins nothing, and hidden characters after an emoji', () => {
    expect(visibleText('a\u200db')).toBe('a⟦U+200D⟧b');
    expect(visibleText('👍\u200d\u200b\u200d')).toBe('👍\u200d⟦U+200B U+200D×2⟧');
  });

  it.each(['\u200b', 'a\u200b', '⟦', TAGS, '👍\u200d', '<!--'])(
    'takes linear time for a mebibyte of %j',
    async (part) => {
      const work = (length: number) => visibleText(part.repeat(length / part.length));
      expect(await cost(work, 1_048_576)).toBeLessThan(LINEAR);
    },
  );
});

describe('withoutHidden', () => {
  it('removes hidden characters', () => {
    expect(withoutHidden(`e\u200bvil${TAGS}.exam\u00adple`)).toBe('evil.example');
  });
});

describe('plainJson', () => {
  it.each([
    ['a\u200bb', '"a\\u200bb"'],
    ['\u{e0041}', '"\\udb40\\udc41"'],
    ['\u2028\0\ud800', '"\\u2028\\u0000\\ud800"'],
    ['</evidence>', '"\\u003c/evidence>"'],
    ['漢字 👍', '"漢字 👍"'],
  ])('writes %j as %s', (text, json) => {
    expect(plainJson(text)).toBe(json);
    expect(JSON.parse(json)).toBe(text);
  });

  it('keeps keys and values of every kind', () => {
    const value = JSON.parse('{"__proto__":[1,true,null,"x"],"</a":"\u200b"}') as unknown;
    expect(JSON.parse(plainJson(value))).toEqual(value);
  });
});
