import { checkPlaybook } from './check-playbook.js';

/** Messages about a condition, without the position. */
function said(condition: string): string[] {
  const variables = { minutes: 60, tags: ['a'], at: {} };
  const parameters = { channel: 'c', message: 'm' };
  const step = { name: 's', action: 'notify_channel', parameters, on_error: 'stop' as const };
  const steps = [
    { ...step, name: 'a' },
    { ...step, condition },
  ];
  return checkPlaybook({ variables, steps }).map(({ message }) =>
    message.slice(message.indexOf(': ') + 2),
  );
}

describe('messages about errors that the CEL library finds', () => {
  it.each([
    ['', 'The expression ends too early.'],
    ['size(incident.title', 'Expected ")" here.'],
    ['{"a" 1}', 'Expected ":" here.'],
    ['incident.', 'Expected a name here.'],
    ['1 ==)', 'Unexpected ) here.'],
    ['true and false', 'Unexpected and here.'],
    ['true \u{1f600}', 'Unexpected \u{1f600} here.'],
    ['true \ud800', 'Unexpected \ufffd here.'],
    ['"a', 'Unterminated string.'],
    ['if == 1', 'Reserved identifier: if.'],
    [Array(500).fill('1').join('+'), 'An expression has at most 500 parts.'],
    [`${'('.repeat(70)}true${')'.repeat(70)}`, 'An expression has at most 60 levels.'],
    [
      `size(${Array(20).fill('1').join(',')}) > 1`,
      'An expression has at most 8 operands of a function.',
    ],
    ['incident.title', 'A condition must be true or false, not string.'],
    ['incident.severity > 3', 'There is no operation string > int.'],
    ['variables.minutes == "60"', 'There is no operation double == string.'],
    ['variables.minutes.contains("a")', "There is no function 'double.contains(string)'."],
    ['incident.title || true', "Logical operator requires bool operands, got 'string'."],
    ['has(incident)', 'Only single fields of incident can be read, such as incident.name.'],
  ])('%j: %s', (condition, sentence) => {
    expect(said(condition)).toEqual([sentence]);
  });
});
