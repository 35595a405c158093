import { readExpression } from './expression.js';
import { Interpreter } from './interpreter.js';

const SCOPE = new Map([['incident', { whole: 5, part: 2.5, digits: '12345678901234567' }]]);

function value(text: string): unknown {
  return new Interpreter().value(readExpression(text, ['incident']), SCOPE);
}

describe('an expression', () => {
  it.each<[string, unknown]>([
    ['int("42") + int(2.9) + int(-2.9)', 42n],
    ['int(incident.digits)', 12345678901234567n],
    ['string(9223372036854775807)', '9223372036854775807'],
    ['double("1e3")', 1000],
    ['bool("true") && !bool("False")', true],
    ['incident.whole / 2', 2.5],
    ['5 / 2', 2n],
    ['incident.whole + 1', 6],
    ['incident.part * 2 == 5', true],
    ['9007199254740993 > 9007199254740992.0', true],
    ['[10, 20][incident.whole - 4]', 20n],
    ['"abcdef".substring(int(incident.whole))', 'f'],
    ['"abcdef".substring(1, 3)', 'bc'],
    ['size("h\u00e9\u{1f600}")', 3n],
    ['" a ".trim() + "AbC".lowerAscii() + "x".upperAscii()', 'aabcX'],
    ['"\u00c4B\u0130".lowerAscii() + "\u00e4b\u00df".upperAscii()', '\u00c4b\u0130\u00e4B\u00df'],
    ['["a", "b"].join("-") + "a,b".split(",")[1]', 'a-bb'],
    ['timestamp("2026-07-01T23:30:15.250Z").getDate("Europe/Zurich")', 2n],
    ['timestamp("2026-07-01T23:30:15.250Z").getHours("Europe/Zurich")', 1n],
    ['timestamp("2026-07-01T23:30:15.250Z").getMilliseconds("Europe/Zurich")', 250n],
    ['timestamp(1767225600) == timestamp("2026-01-01T00:00:00Z")', true],
    ['timestamp(int(incident.whole)).getSeconds()', 5n],
    ['timestamp("2026-01-04T00:00:00+01:00").getDayOfWeek()', 6n],
    ['duration("90m").getHours()', 1n],
    ['isIP("192.0.2.7") && isIP("2001:db8::1") && !isIP("ws-1.example.com")', true],
    ['oneLine("a\\n b") + oneLine(incident.whole)', 'a b5'],
    ['duration("1h30m") == duration("90m") && duration("1s500ms") > duration("-1h")', true],
    [
      'timestamp("2026-01-01T00:00:00Z") + duration("1h") > timestamp("2026-01-01T00:59:59Z")',
      true,
    ],
  ])('%s has the value %p', (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it.each([
    ['int("")', 'no int()'],
    ['int(" 1")', 'cannot convert to int'],
    ['int("0x10")', 'cannot convert to int'],
    ['int("9223372036854775808")', 'cannot convert to int'],
    ['int(0.0 / 0.0)', 'integer overflow'],
    ['9223372036854775807 + 1', 'Integer overflow'],
    ['9223372036854775807 * 9223372036854775807', 'Integer overflow'],
    ['1 % 0', 'Modulo by zero'],
    ['double("1".size() == 1 ? "1_0" : "")', 'cannot convert to double'],
    ['bool("yes")', 'invalid string value'],
    ['[1][incident.part]', 'no item'],
    ['[1][-1]', 'no item'],
    ['"abc".substring(2, 1)', 'out of range'],
    ['"abc".substring(0, 4)', 'out of range'],
    ['["a", 1].join()', 'a text'],
    ['1 < "a"', 'There is no operation int < string'],
    ['"a" + 1', 'There is no operation string + int'],
    ['1 in "a"', 'a list or an object'],
    ['timestamp("2026-02-30T00:00:00Z")', 'no timestamp()'],
    ['timestamp("2026-01-31T09:30:00.000")', 'no timestamp()'],
    ['duration("1d")', 'Invalid duration'],
    ['duration("")', 'Invalid duration'],
    ['duration("9".size() == 1 ? "1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h" : "")', 'too long'],
    ['timestamp("2026-01-01T00:00:00Z").getHours("Nowhere/Land")', 'has no value'],
    ['duration("1h").getFullYear()', 'There is no function'],
    ['{"a": 1}.b', '{"a": 1}.b does not exist.'],
    ['null.a', 'null.a does not exist.'],
  ])('%s has no value: %s', (text, problem) => {
    expect(() => value(text)).toThrow(problem);
  });
});
