import { Environment } from '@marcbachmann/cel-js';
import { ExpressionError, readExpression, ROOTS, type Value } from './expression.js';
import { Interpreter, type Scope } from './interpreter.js';
import { Random } from '../../../test/support/playbooks/random.js';

const RAW = {
  text: 'Urgent: pay now',
  empty: '',
  whole: 5,
  part: 1.5,
  none: null,
  yes: true,
  list: [1, 2, 3, 3],
  texts: ['a', 'bc', 'bc'],
  mixed: [1, 'a', null, [2], { k: 1 }],
  object: { k: 1, text: 'x' },
  at: '2026-01-31T09:30:00Z',
};
const SCOPE: Scope = new Map<string, Value>([
  ['incident', { raw_data: RAW }],
  ['variables', {}],
  ['steps', {}],
  ['verdict', {}],
]);

const ERROR = Symbol('error');

function ours(text: string): unknown {
  try {
    return plain(new Interpreter().value(readExpression(text, ROOTS), SCOPE));
  } catch (error) {
    if (error instanceof ExpressionError) return ERROR;
    throw error;
  }
}

const calculations: [string, (a: number, b: number) => number][] = [
  ['+', (a, b) => a + b],
  ['-', (a, b) => a - b],
  ['*', (a, b) => a * b],
  ['/', (a, b) => a / b],
  ['%', (a, b) => a % b],
];
const library = new Environment({ homogeneousAggregateLiterals: false });
for (const [sign, calculate] of calculations) {
  const handler = (a: number | bigint, b: number | bigint) => calculate(Number(a), Number(b));
  library.registerOperator(`int ${sign} double: double`, handler);
  library.registerOperator(`double ${sign} int: double`, handler);
}
library.registerOperator('double % double: double', (a: number, b: number) => a % b);
for (const root of ROOTS) library.registerVariable(root, 'map<string, dyn>');

function theirs(text: string): unknown {
  try {
    return plain(library.evaluate(text, Object.fromEntries(SCOPE)));
  } catch {
    return ERROR;
  }
}

/** Removes differences between the library and the interpreter in durations, prototypes and integers. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('addDuration' in value) return { duration: Number(value) };
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

const LEAVES = [
  ...Object.keys(RAW).map((key) => `incident.raw_data.${key}`),
  'incident.raw_data.other',
  'incident.raw_data.object.k',
  'incident.raw_data.list[1]',
  ...[
    '0',
    '1',
    '-3',
    '7',
    '1.5',
    '0.0',
    '9223372036854775807',
    '"a"',
    '"bc"',
    '""',
    // Letters without upper and lower case. For other letters that are not ASCII, the library behaves differently.
    '"語\u{1f600}"',
  ],
  ...[
    'true',
    'false',
    'null',
    '[]',
    '{}',
    '[1, "a"]',
    '{"k": 1}',
    'timestamp(incident.raw_data.at)',
  ],
  ...['duration("1h30m")', 'duration("-5s")', 'duration("5x")', 'timestamp("x")'],
];
const INFIX = ['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%', '||', '&&'];
const ON_TEXT = ['contains', 'startsWith', 'endsWith', 'indexOf', 'lastIndexOf', 'split'];
const ON_ONE = [
  'size',
  'lowerAscii',
  'upperAscii',
  'trim',
  'join',
  'getHours',
  'getDayOfWeek',
  'getSeconds',
];
/** Omits int(), because the library returns 0 for a text without digits. */
const CALLS = ['size', 'string', 'double', 'bool', 'dyn'];
const LOOPS = ['all', 'exists', 'exists_one', 'map', 'filter'];

function expression(random: Random, depth: number, names: readonly string[] = []): string {
  const some = (extra: readonly string[] = []) =>
    expression(random, depth - 1, [...names, ...extra]);
  if (depth === 0) return random.of([...LEAVES, ...names, ...names, ...names]);
  const name = `x${names.length}`;
  const kinds = [
    () => `(${some()} ${random.of(INFIX)} ${some()})`,
    () => `(${some()} ${random.of(['==', '<', '||', '&&'])} ${some()})`,
    () => `${random.of(['!', '-'])}${some()}`,
    () => `(${some()} ? ${some()} : ${some()})`,
    () => `${random.of(CALLS)}(${some()})`,
    () => `${some()}.${random.of(ON_ONE)}()`,
    () => `${some()}.${random.of(ON_TEXT)}(${some()})`,
    () => `incident.raw_data.text.substring(${random.below(20)}, ${random.below(20)})`,
    () => `${some()}[${some()}]`,
    () => `${some()}.k`,
    () => `[${some()}, ${some()}]`,
    () => `{"k": ${some()}}`,
    () => `has(incident.raw_data.${random.of(Object.keys(RAW))}.k)`,
    () => random.of(LEAVES),
  ];
  const list = random.of(['list', 'texts', 'mixed', 'object']);
  const loop = () => `incident.raw_data.${list}.${random.of(LOOPS)}(${name}, ${some([name])})`;
  return random.of(names.length < 2 ? [...kinds, loop] : kinds)();
}

describe('Interpreter', () => {
  /** True if the type check rejects the expression, because the library does not evaluate such an expression. */
  const judgedByTypes = (text: string) => !library.check(text).valid;

  it('returns the same values as the library for generated expressions', () => {
    const random = new Random(20_261_122);
    const differences: string[] = [];
    let compared = 0;
    let values = 0;
    while (compared < 6_000) {
      const text = expression(random, 1 + (compared % 3));
      if (text.length > 2_000 || judgedByTypes(text)) continue;
      compared += 1;
      const [our, their] = [ours(text), theirs(text)];
      if (their !== ERROR) values += 1;
      if (
        !Object.is(
          JSON.stringify(our === ERROR ? 'error' : our),
          JSON.stringify(their === ERROR ? 'error' : their),
        )
      ) {
        differences.push(
          `${text} -> ${String(JSON.stringify(our))} and ${String(JSON.stringify(their))}`,
        );
      }
    }
    expect(differences).toEqual([]);
    expect(values).toBeGreaterThan(1_000);
  });
});
