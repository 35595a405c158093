import { checkPlaybook } from './check-playbook.js';
import { ExpressionError, readTemplate, soleOf } from './expression.js';

function said(condition: string): string[] {
  const variables = { minutes: 60, tags: ['a'], at: {} };
  const parameters = { channel: 'c', message: 'm' };
  const step = { name: 's', action: 'notify_channel', parameters, on_error: 'stop' } as const;
  const steps = [
    { ...step, name: 'a' },
    { ...step, condition },
  ];
  return checkPlaybook({ variables, steps }).map(({ message }) =>
    message.slice(message.indexOf(': ') + 2),
  );
}

describe('an error message of the CEL library', () => {
  it.each([
    ['', 'Unexpected token: EOF.'],
    ['size(incident.title', 'Expected RPAREN, got EOF.'],
    ['{"a" 1}', 'Expected COLON, got NUMBER.'],
    ['incident.', 'Expected IDENTIFIER, got EOF.'],
    ['1 ==)', 'Unexpected token: RPAREN.'],
    ['true and false', "Unexpected character: 'd'."],
    ['true \ud800', 'Unexpected character: \ufffd.'],
    ['"a', 'Unterminated string.'],
    ['if == 1', 'Reserved identifier: if.'],
    [Array(500).fill('1').join('+'), 'Exceeded maxAstNodes (500).'],
    [`${'('.repeat(70)}true${')'.repeat(70)}`, 'Exceeded maxDepth (60).'],
    [`size(${Array(20).fill('1').join(',')}) > 1`, 'Exceeded maxCallArguments (8).'],
    ['incident.title', 'A condition must be true or false, not string.'],
    ['incident.severity > 3', 'There is no operation string > int.'],
    ['variables.minutes == "60"', 'There is no operation double == string.'],
    ['variables.minutes.contains("a")', "There is no function 'double.contains(string)'."],
    ['incident.title || true', "Logical operator requires bool operands, got 'string'."],
    ['has(incident)', 'Only single fields of incident can be read, such as incident.name.'],
  ])('for %j is: %s', (condition, sentence) => {
    expect(said(condition)).toEqual([sentence]);
  });
});

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
    ['{{ {"a": {"b": 1} }.a.b }}', [{ expression: ' {"a": {"b": 1} }.a.b ', offset: 2 }]],
    ['{{ {"a": 1}.a}}', [{ expression: ' {"a": 1}.a', offset: 2 }]],
    ['{{ "{{" }}', [{ expression: ' "{{" ', offset: 2 }]],
    ['\0{{ "\ud800" }}', ['\0', { expression: ' "\ud800" ', offset: 3 }]],
  ])('reads %j', (text, parts) => {
    expect(readTemplate(text)).toEqual(parts);
  });

  it.each([
    ['{{', 0],
    ['ab{{ a }', 2],
    ['{{ a }} {{ "}}', 8],
    [`{{ '''}}''`, 0],
    ['{{ "\\', 0],
  ])('rejects %j at the offset %d', (text, offset) => {
    expect(() => readTemplate(text)).toThrow(ExpressionError);
    expect(() => readTemplate(text)).toThrow(expect.objectContaining({ offset }));
  });

  it.each(['{{', '}}', '{', '"', '\\"', "'''", '{{"', '{{ 1 }}'])(
    'rejects 100,000 repetitions of %s',
    (piece) => {
      expect(() => readTemplate(piece.repeat(100_000))).toThrow(ExpressionError);
    },
  );
});

describe('soleOf', () => {
  it('returns the placeholder only if it is the whole template', () => {
    expect(soleOf(readTemplate('{{ a }}'))).toEqual({ expression: ' a ', offset: 2 });
    expect(soleOf(readTemplate('{{ a }} '))).toBeUndefined();
    expect(soleOf(readTemplate('{{ a }}{{ b }}'))).toBeUndefined();
    expect(soleOf(readTemplate('a'))).toBeUndefined();
  });
});
