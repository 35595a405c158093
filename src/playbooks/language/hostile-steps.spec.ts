import { type Context, decided } from '../../../test/support/playbooks/decisions-of.js';
import { incidentWith } from '../../../test/support/playbooks/incident-with.js';
import { Random } from '../../../test/support/playbooks/random.js';
import { checkPlaybook } from './check-playbook.js';
import type { PlaybookStep } from '../playbook.js';
import { decideStep, valuesOf } from './decide-step.js';

const LIST = Array.from({ length: 1_000 }, (_, n) => ({ v: `x${n}`, n }));
const LONG = 'a'.repeat(250_000);
const KEYS = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]));
const NESTED = JSON.parse('[1,'.repeat(30) + '1' + ']'.repeat(30)) as unknown;

function step(condition: string, message = 'm'): PlaybookStep {
  const parameters = { channel: 'c', message };
  return { name: 's', action: 'notify_channel', parameters, condition, on_error: 'stop' };
}

function contextWith(raw: object): Context {
  return { incident: incidentWith({ raw_data: JSON.stringify(raw) }), variables: {}, steps: {} };
}

const PIECES = [
  ...'incident raw_data variables steps verdict l b x k true false null in has size all exists'.split(
    ' ',
  ),
  ...'map filter matches contains __proto__ constructor toString cel google package dyn'.split(' '),
  ...'timestamp 1 0 1.5 1u 0x1f 1e999 . , ? : ( ) [ ] { } {{ }} == != < >= + - * / %'.split(' '),
  ...`! && || " ' """ \\ b" r" // .? @ # $ ; "a" .all(x, .map(x,x) incident.raw_data`.split(' '),
  ...['\0', '\ud800', '\n', '\u202e', '\u{1f600}'],
];

const raw = (name: string) => `incident.raw_data.${name}`;
const each = (body: string) => `${raw('l')}.exists(x, ${body})`;
const twice = (body: string) => `${raw('l')}.all(x, ${raw('l')}.all(y, ${body}))`;

describe('a hostile step', () => {
  it.each<[string, string, object]>([
    ['compares all items with all items', twice('x.n + y.n >= 0'), {}],
    ['has loops with empty bodies', twice('true'), {}],
    [
      'has an error in each iteration',
      `${raw('l')}.exists(x, ${raw('l')}.exists(y, x.nope == y))`,
      {},
    ],
    ['calls a missing method in each iteration', each('x.n.contains("a")'), {}],
    ['builds a list of lists', `${raw('l')}.map(x, ${raw('l')}.map(y, [x, y])).size() == 0`, {}],
    [
      'adds lists',
      `${raw('l')}.map(x, ${raw('l')} + ${raw('l')}).size() == 0`,
      { l: LIST.slice(0, 500) },
    ],
    ['builds objects', twice('{"a": 1, "b": 2, "c": 3, "d": 4}.size() == 4'), {}],
    ['writes and reads numbers', twice('double(string(y.n)) >= 0.0'), {}],
    ['searches for a short text', each(`${raw('b')}.contains("aaaaab")`), { b: LONG }],
    [
      'searches for a long text',
      each(`${raw('b')}.contains("${'a'.repeat(60)}b${'a'.repeat(60)}")`),
      { b: LONG },
    ],
    [
      'searches from the end',
      each(`${raw('b')}.lastIndexOf("${'a'.repeat(60)}b") > 5`),
      { b: LONG },
    ],
    [
      'searches for one text of the sender in another',
      `${raw('b')}.contains(${raw('c')})`,
      { b: LONG.slice(0, 130_000), c: `${LONG.slice(0, 30_000)}b${LONG.slice(0, 30_000)}` },
    ],
    [
      'changes the case of letters',
      each(`${raw('b')}.upperAscii() == "a"`),
      { b: 'aB'.repeat(120_000) },
    ],
    [
      'changes the case of letters that are not ASCII',
      each(`${raw('b')}.upperAscii() == "a"`),
      { b: '\u0149\u00df'.repeat(60_000) },
    ],
    ['counts characters', each(`${raw('b')}.size() == 5`), { b: '\u{1f600}'.repeat(60_000) }],
    ['splits a text', each(`${raw('b')}.split("").size() == 5`), { b: LONG }],
    ['trims a text', each(`${raw('b')}.trim() == "a"`), { b: ' '.repeat(240_000) }],
    [
      'repeats a text',
      each(`(${raw('b')} + ${raw('b')} + ${raw('b')}).contains("b")`),
      { b: LONG },
    ],
    ['compares long texts', each(`${raw('b')} == ${raw('c')}`), { b: `${LONG}b`, c: `${LONG}c` }],
    ['orders long texts', each(`${raw('b')} > ${raw('c')}`), { b: `${LONG}b`, c: `${LONG}c` }],
    ['compares long lists', each(`${raw('l')} == ${raw('m')} && false`), { m: LIST }],
    ['searches in long lists', each(`x in ${raw('m')} && false`), { m: LIST }],
    [
      'compares nested lists',
      each(`${raw('d')} == ${raw('e')} && false`),
      { d: NESTED, e: NESTED },
    ],
    ['counts many keys', each('size(incident.raw_data) == 5'), KEYS],
    ['compares many keys with none', each('{} == incident.raw_data'), KEYS],
    ['visits too many keys in each iteration', each('incident.raw_data.all(k, true)'), KEYS],
    [
      'reads times in a time zone',
      each('timestamp("2026-01-01T00:00:00Z").getHours("Europe/Zurich") == 77'),
      {},
    ],
    ['reads times', each('timestamp("2026-01-01T00:00:00Z").getHours() == 77'), {}],
    ['reads durations', each(`duration("${'1h'.repeat(20)}") == duration("1m")`), {}],
  ])('ends with the same decision each time if it %s', (_, condition, more) => {
    expect(condition.length).toBeLessThan(2_000);
    const context = contextWith({ l: LIST, ...more });
    const decide = () => decided(step(condition), context);
    const { kind } = decide();
    expect(kind).not.toBe('run');
    expect(decide().kind).toBe(kind);
  });

  it('fails if one side of an operator costs too much, even if the other side decides', () => {
    const context = contextWith({ l: LIST });
    for (const condition of [
      `${twice('true')} || true`,
      `[1, 2].exists(z, ${each('x.nope == 1')} || z == 2)`,
    ]) {
      expect(decided(step(condition), context).kind).toBe('error');
    }
  });

  it('cannot double a text until the memory is full', () => {
    const doubled = `["a"]${'.map(x, x + x)'.repeat(20)}[0].contains("b")`;
    expect(decided(step(doubled), contextWith({})).kind).toBe('error');
    const parts = Array(50).fill('{{ incident.raw_data.b }}').join('');
    expect(decided(step('true', parts), contextWith({ b: LONG }))).toMatchObject({
      kind: 'error',
      message: expect.stringMatching(/^steps\.0\.parameters\.message at character \d/),
    });
    const tripled = `${raw('l')}.map(x, ${raw('b')} + ${raw('b')} + ${raw('b')}).join("").size() > 0`;
    expect(decided(step(tripled), contextWith({ l: LIST, b: LONG })).kind).toBe('error');
  });

  it('cannot visit, split or build lists of more than 1,000 items', () => {
    const long = { l: [...LIST, 1] };
    for (const condition of [
      'incident.raw_data.l.all(x, true)',
      'incident.raw_data.l.filter(x, true) == []',
      '(incident.raw_data.l + []) == []',
      '"a,".size() == 2 && incident.raw_data.b.split(",").size() > 0',
      'incident.raw_data.l.join() == ""',
    ]) {
      const context = contextWith({ ...long, b: ','.repeat(1_000) });
      expect(decided(step(condition), context)).toMatchObject({
        message: expect.stringMatching(/This list has more than 1000 items\.$/),
      });
    }
  });

  it('has one budget for its condition and its templates', () => {
    const half = `${raw('l')}.all(x, ${raw('m')}.all(y, true))`;
    const context = contextWith({ l: LIST.slice(0, 100), m: LIST.slice(0, 100) });
    expect(decided(step(half), context).kind).toBe('run');
    expect(decided(step(half, `{{ ${half} }} {{ ${half} }}`), context)).toMatchObject({
      kind: 'error',
      message: expect.stringMatching(/^steps\.0\.parameters\.message at character \d/),
    });
  });

  it('has an equal share of the budget if the playbook has many steps', () => {
    const costly = step(`${raw('l')}.all(x, ${raw('m')}.all(y, true))`);
    const values = valuesOf(contextWith({ l: LIST.slice(0, 100), m: LIST.slice(0, 100) }));
    const kindsOf = (count: number) =>
      Array.from({ length: count }, (_, position) => {
        return decideStep(Array<PlaybookStep>(count).fill(costly), position, values).kind;
      });
    expect(new Set(kindsOf(20))).toEqual(new Set(['run']));
    expect(new Set(kindsOf(50))).toEqual(new Set(['error']));
  });

  it('with 10,000 templates is rejected when it is saved and fails when it runs', () => {
    const message = '{{ 1 }}'.repeat(10_000);
    expect(decided(step('true', message), contextWith({})).kind).toBe('error');
    const definition = { variables: {}, steps: [step('true', message)] };
    expect(checkPlaybook(definition)).toHaveLength(1);
    expect(
      checkPlaybook({ ...definition, steps: [step('true', '{{1}}'.repeat(1_500))] }),
    ).toHaveLength(1);
  });

  it.each([
    ['brackets', `${'('.repeat(900)}1${')'.repeat(900)}`],
    ['signs', `${'-'.repeat(1_900)}1`],
    ['lists', '['.repeat(1_900)],
    ['objects', '{"a":'.repeat(390)],
    ['choices', 'true ? '.repeat(280)],
    ['calls', 'size('.repeat(390)],
    ['steps of a path', `incident${'.a'.repeat(900)}`],
    ['loops', `[1]${'.map(x, x)'.repeat(190)}`],
    ['terms', Array(650).fill('1').join('+')],
    ['quotes', '"'.repeat(1_999)],
    ['backslashes', `"${'\\'.repeat(1_900)}`],
    ['NULs', '\0'.repeat(1_999)],
    ['halves of characters', '\ud800'.repeat(1_999)],
    ['comments', '//'.repeat(999)],
    ['lines', '\n'.repeat(1_999)],
  ])('made of only %s is rejected with its position', (_, text) => {
    const definition = { variables: {}, steps: [step(text), step('true', `{{${text}}}`)] };
    expect(checkPlaybook(definition).map(({ field }) => field)).toContain('steps.0.condition');
    expect(decided(step(text), contextWith({}))).toMatchObject({
      kind: 'error',
      message: expect.stringMatching(/^steps\.0\.condition at character \d/),
    });
    expect(decided(step('true', `{{${text}}}`), contextWith({})).kind).toBe('error');
  });

  it('made of random pieces of the language is decided or fails', () => {
    const random = new Random(42);
    const some = (most: number) =>
      Array.from({ length: random.below(most) }, () => random.of(PIECES));
    const context = contextWith({ l: [1, 'a'], b: 'text' });
    for (let round = 0; round < 4_000; round += 1) {
      const condition = some(14).join(random.of(['', ' ']));
      const hostile = step(condition, `a {{ ${some(8).join('')} }} ${some(3).join('')}`);
      const problems = checkPlaybook({ variables: {}, steps: [hostile] });
      expect(problems.every(({ message }) => message.length < 400 && message.isWellFormed())).toBe(
        true,
      );
      expect(decided(hostile, context).kind).toMatch(/^(run|skip|error)$/);
    }
  });
});
