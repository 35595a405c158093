import { ExpressionError } from './expression.js';
import { readTemplate, soleOf } from './template.js';

describe('readTemplate', () => {
  it.each<[string, unknown[]]>([
    ['', []],
    ['plain', ['plain']],
    ['{{a}}', [{ expression: 'a', offset: 2 }]],
    [
      'x {{ a }} y {{b}}',
      ['x ', { expression: ' a ', offset: 4 }, ' y ', { expression: 'b', offset: 14 }],
    ],
    ['}} { } a}}', ['}} { } a}}']],
    ['{{ "}}" }}', [{ expression: ' "}}" ', offset: 2 }]],
    [`{{ '\\'}}' }}`, [{ expression: ` '\\'}}' `, offset: 2 }]],
    [`{{ """ "}} """ }}`, [{ expression: ` """ "}} """ `, offset: 2 }]],
    ['{{ {"a": {"b": 1}}.a.b }}', [{ expression: ' {"a": {"b": 1}}.a.b ', offset: 2 }]],
    ['{{{}}}', [{ expression: '{}', offset: 2 }]],
    ['{{ "{{" }}', [{ expression: ' "{{" ', offset: 2 }]],
    ['\0{{ "\ud800" }}', ['\0', { expression: ' "\ud800" ', offset: 3 }]],
  ])('reads %j', (text, parts) => {
    expect(readTemplate(text)).toEqual(parts);
  });

  it.each([
    ['{{', 0],
    ['ab{{ a }', 2],
    ['{{ a }} {{ "}}', 8],
    ['{{ {"a": 1}} ', 0],
    [`{{ '''}}''`, 0],
    ['{{ "\\', 0],
  ])('refuses %j at %d', (text, offset) => {
    expect(() => readTemplate(text)).toThrow(ExpressionError);
    expect(() => readTemplate(text)).toThrow(expect.objectContaining({ offset }));
  });

  it.each(['{{', '}}', '{', '"', '\\"', "'''", '{{"', '{{ 1 }}'])(
    'refuses %s again and again',
    (piece) => {
      expect(() => readTemplate(piece.repeat(100_000))).toThrow(ExpressionError);
    },
  );
});

describe('soleOf', () => {
  it('is the placeholder only when nothing is around it', () => {
    expect(soleOf(readTemplate('{{ a }}'))).toEqual({ expression: ' a ', offset: 2 });
    expect(soleOf(readTemplate('{{ a }} '))).toBeUndefined();
    expect(soleOf(readTemplate('{{ a }}{{ b }}'))).toBeUndefined();
    expect(soleOf(readTemplate('a'))).toBeUndefined();
  });
});
