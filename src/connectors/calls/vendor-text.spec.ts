import { shownData, shownMessage } from './vendor-answers.js';

describe('the words of vendors', () => {
  it('are bounded, however many and however deep they are', () => {
    expect(shownMessage('x'.repeat(1_000_000))).toHaveLength(1_000);
    const much = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n, 'x'.repeat(9_000)]));
    const shown = shownData(much)!;
    expect(shown['0']).toHaveLength(1_000);
    expect(JSON.stringify(shown).length).toBeLessThan(80_000);
    let deep: unknown = 'end';
    for (let level = 0; level < 5_000; level += 1) deep = { deep };
    expect(JSON.stringify(shownData({ deep }))).toContain('[too deep]');
  });

  it('show what would not be seen, and hold nothing that cannot be stored', () => {
    const said = 'a\0b \ud800 \u202egnp.exe \x1b[31mRED\x07 \u2028 \ufeff x\ry\r\nz\t\u{e0041}';
    const seen =
      'a\ufffdb \ufffd ⟦U+202E⟧gnp.exe ⟦U+001B⟧[31mRED⟦U+0007⟧ ⟦U+2028⟧ ⟦U+FEFF⟧ x⟦U+000D⟧y\r\nz\t⟦U+E0041⟧';
    expect(shownMessage(said)).toBe(seen);
    expect(shownData({ ['\u202ea']: [{ b: said }] })).toEqual({ '⟦U+202E⟧a': [{ b: seen }] });
    expect(shownMessage('\x1b'.repeat(2_000))).toHaveLength(1_000);
  });

  it('stay as they are otherwise', () => {
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
