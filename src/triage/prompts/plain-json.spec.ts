import { plainJson } from './plain-json.js';

describe('plainJson', () => {
  it.each([
    ['a\u200bb', '"a\\u200bb"'],
    ['\u{e0041}', '"\\udb40\\udc41"'],
    ['\u2028\0\ud800', '"\\u2028\\u0000\\ud800"'],
    ['</evidence>', '"<\\/evidence>"'],
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
