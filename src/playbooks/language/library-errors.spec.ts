import { checkPlaybook } from './check-playbook.js';

/** What is said of a condition after the place. */
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

describe('what the library finds wrong is told in our own sentences', () => {
  it.each([
    ['', 'The expression ends too early.'],
    ['1 ==', 'The expression ends too early.'],
    ['size(incident.title', 'Here has to be ).'],
    ['[1, 2', 'Here has to be ].'],
    ['{"a" 1}', 'Here has to be :.'],
    ['incident.', 'Here has to be a name.'],
    ['true ? 1', 'Here has to be :.'],
    ['1 ==)', 'The expression cannot go on with ) here.'],
    ['true and false', 'The expression cannot go on with and here.'],
    ['true @', 'The expression cannot go on with @ here.'],
    ['true \u{1f600}', 'The expression cannot go on with \u{1f600} here.'],
    ['true \ud800', 'The expression cannot go on with \ufffd here.'],
    ['a = 1', 'The expression cannot go on with = here.'],
    ['"a', 'Nothing ends this text in quotes.'],
    ["'''a", 'Nothing ends this text in quotes.'],
    ['"a\n"', 'A text in quotes ends on the line on which it begins.'],
    ['"\\q" == ""', 'A text in quotes has no such character after a \\.'],
    ['"\\ud800" == ""', 'A text in quotes has no such character after a \\.'],
    ['1e == 1', 'This is no number.'],
    ['1e999 > 1', 'This is no number.'],
    ['0x > 1', 'This is no number.'],
    ['if == 1', 'This word is reserved.'],
    ['[1].all(1, true)', 'The first thing in these brackets has to be a name.'],
    [Array(500).fill('1').join('+'), 'An expression has at most 500 parts.'],
    [`${'('.repeat(70)}true${')'.repeat(70)}`, 'An expression is at most 60 levels deep.'],
    [`size(${Array(20).fill('1').join(',')}) > 1`, 'A function takes at most 8 operands.'],
  ])('of the text %j: %s', (condition, sentence) => {
    expect(said(condition)).toEqual([sentence]);
  });

  it.each([
    ['incident.title', 'A condition is true or false, and here is a text.'],
    ['variables.at', 'A condition is true or false, and here is an object.'],
    ['incident.severity > 3', 'A text and a whole number cannot be compared by < or >.'],
    ['true < 3', 'True or false and a whole number cannot be compared by < or >.'],
    ['variables.minutes == "60"', 'A number and a text are never equal.'],
    ['variables.tags != variables.at', 'A list and an object are never equal.'],
    ['incident.title + 1 == ""', 'There is no + of a text and a whole number.'],
    ['timestamp("2026-01-31T09:30:00Z") * 2 == 1', 'There is no * of a time and a whole number.'],
    [
      '[1] == variables.tags.map(t, "a")',
      'These are never equal: what is in a list and in the other one is of different types.',
    ],
    ['1 in incident.title', 'Nothing is in a text.'],
    ['1 in ["a"]', 'There is never a whole number in this: it has values of another type.'],
    ['int() == 1', 'The operands of int() do not fit: here is nothing.'],
    ['[][0].a == 1', 'There are no fields in nothing.'],
    ['!incident.title', 'This takes true or false, and here is a text.'],
    ['-incident.title == ""', 'There is no negative of a text.'],
    ['incident.title || true', 'This takes true or false, and here is a text.'],
    ['incident.title ? true : false', 'This takes true or false, and here is a text.'],
    ['[1].all(x, x)', 'This takes true or false, and here is a whole number.'],
    ['[1].filter(x, "a") == []', 'This takes true or false, and here is a text.'],
    ['incident.title.all(x, true)', 'This takes a list or an object, and here is a text.'],
    [
      '(true ? 1 : "a") == 1',
      'Both values of ? : are of one type, and here are a whole number and a text.',
    ],
    ['incident.title.length > 1', 'There are no fields in a text.'],
    ['[1]["a"] == 1', 'A list is read by a whole number, and here is a text.'],
    [
      'variables.minutes.contains("a")',
      'The operands of contains() do not fit: here are a number and a text.',
    ],
    ['incident.title.contains()', 'The operands of contains() do not fit: here is a text.'],
    ['size(variables.minutes) > 1', 'The operands of size() do not fit: here is a number.'],
    [
      '[[1]].join({"a": [1]}) == ""',
      'The operands of join() do not fit: here are a list and an object.',
    ],
    [
      'duration(1) == duration("1m")',
      'The operands of duration() do not fit: here is a whole number.',
    ],
    [
      'steps.a.result.all(k, true)',
      'This takes a list or an object, and here is the result of a step.',
    ],
    ['has(incident)', 'Only single fields of incident can be read, such as incident.name.'],
    ['has("a")', 'There has to be a path in has(), such as incident.raw_data.sender.'],
  ])('of the types in %s: %s', (condition, sentence) => {
    expect(said(condition)).toEqual([sentence]);
  });
});
