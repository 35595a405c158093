import {
  asIndex,
  asText,
  type Budget,
  isList,
  isMembers,
  Mismatch,
  needs,
  type Value,
} from './values.js';
import {
  readDuration,
  readTime,
  textOf,
  TIME_PARTS,
  type TimePart,
  timePart,
  toDouble,
  toInt,
  toTruth,
} from './conversions.js';
import { hasFormat } from '../../../action-catalogue/parameters.js';
import { LONGEST_TITLE, titleLine } from '../../../incidents/raw-data-text.js';
import { MOST_ITEMS } from '../playbook-definition.js';

/** Keeps the text of a whole placeholder as it is where people read it. */
export const RAW = 'raw';

/** A zone is looked up anew each time, which takes as long as so many nodes of an expression. */
const COST_OF_ZONE = 3_000;
const FUNCTIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['size', size],
  ['dyn', (_, value) => value!],
  ['string', (_, value) => textOf(value)],
  ['int', (_, value) => toInt(value)],
  ['double', (_, value) => toDouble(value)],
  ['bool', (_, value) => toTruth(value)],
  ['timestamp', (_, value) => readTime(value)],
  ['duration', (_, value) => readDuration(value)],
  [RAW, (_, value) => textOf(value)],
  ['isIP', (_, value) => hasFormat('ip', asText(value))],
  ['oneLine', oneLine],
]);

/** With the number of operands that may stand in the brackets. */
const METHODS: ReadonlyMap<string, readonly [Operation, number]> = new Map<
  string,
  readonly [Operation, number]
>([
  ['size', [size, 0]],
  ['contains', [search((text, wanted) => text.includes(wanted)), 1]],
  ['indexOf', [search((text, wanted) => BigInt(text.indexOf(wanted))), 1]],
  ['lastIndexOf', [search((text, wanted) => BigInt(text.lastIndexOf(wanted))), 1]],
  ['startsWith', [atEnd((text, wanted) => text.startsWith(wanted)), 1]],
  ['endsWith', [atEnd((text, wanted) => text.endsWith(wanted)), 1]],
  ['lowerAscii', [change((text) => text.toLowerCase()), 0]],
  ['upperAscii', [change((text) => text.toUpperCase()), 0]],
  ['trim', [change((text) => text.trim()), 0]],
  ['substring', [substring, 2]],
  ['split', [split, 1]],
  ['join', [join, 1]],
  ...TIME_PARTS.map((part) => [part, [partOfTime(part), 1]] as const),
]);

/** Signatures of the functions and methods that the library does not know. The type check learns them from this list. */
export const DECLARATIONS: readonly string[] = [
  `${RAW}(dyn): string`,
  'isIP(dyn): bool',
  'oneLine(dyn): string',
];

/** All names in the two tables. */
export const FUNCTION_NAMES: readonly string[] = [...FUNCTIONS.keys(), ...METHODS.keys()];

export const NO_PATH = 'There has to be a path in has(), such as incident.raw_data.sender.';

export function isFunction(name: string): boolean {
  return name === 'has' || FUNCTIONS.has(name);
}

/** Of the method with this name, how many operands may stand in the brackets; undefined when there is none. */
export function mostOperands(name: string): number | undefined {
  return METHODS.get(name)?.[1];
}

export function callFunction(name: string, budget: Budget, operands: Value[]): Value {
  const operation = FUNCTIONS.get(name);
  if (!operation || operands.length !== 1)
    throw new Mismatch(`There has to be one operand in ${name}().`);
  return operation(budget, ...operands);
}

export function callMethod(name: string, budget: Budget, operands: Value[]): Value {
  const [operation] = METHODS.get(name) ?? [];
  if (!operation) throw new Mismatch(`There is no function ${name}().`);
  return operation(budget, ...operands);
}

/** At most as long as a title. Without line breaks a text of strangers cannot pose as a further line of a ticket. */
function oneLine(budget: Budget, value?: Value): string {
  const text = textOf(value!);
  budget.make(Math.min(text.length, LONGEST_TITLE));
  return titleLine(text) ?? '';
}

function partOfTime(part: TimePart): Operation {
  return (budget, value, zone) => {
    if (zone !== undefined) budget.spend(COST_OF_ZONE);
    return timePart(part, value, zone);
  };
}

function size(budget: Budget, value?: Value): bigint {
  if (typeof value === 'string') return charactersIn(value, budget);
  if (value !== undefined && isList(value)) return BigInt(value.length);
  if (value === undefined || !isMembers(value)) throw needs('a text, a list or an object', value);
  return BigInt(budget.keys(value).length);
}

/** Each pays for what it does before it does it. Of a method the first operand stands in front of the dot. */
export type Operation = (budget: Budget, ...operands: Value[]) => Value;

/** So many characters are counted in the time of one node. */
const CHARACTERS_COUNTED = 16;
/** So many, when each is looked up in the tables of Unicode. */
const CHARACTERS_LOOKED_UP = 4;
const ASCII = /^[\0-\x7f]*$/;

export function change(work: (text: string) => string): Operation {
  return (budget, value) => {
    const text = asText(value);
    budget.make(text.length);
    if (!ASCII.test(text)) budget.spend(text.length / CHARACTERS_LOOKED_UP);
    return work(text);
  };
}

export function search(look: (text: string, wanted: string) => Value): Operation {
  return (budget, value, what) => {
    const [text, wanted] = [asText(value), asText(what)];
    budget.search(text, wanted);
    return look(text, wanted);
  };
}

export function atEnd(look: (text: string, wanted: string) => boolean): Operation {
  return (budget, value, what) => {
    const [text, wanted] = [asText(value), asText(what)];
    budget.read(wanted.length);
    return look(text, wanted);
  };
}

export function substring(budget: Budget, value?: Value, from?: Value, to?: Value): string {
  const text = asText(value);
  const start = asIndex(from);
  const end = to === undefined ? text.length : asIndex(to);
  if (start < 0 || end < start || end > text.length) {
    throw new Mismatch('This part is not within the text.');
  }
  budget.make(end - start);
  return text.slice(start, end);
}

export function split(budget: Budget, value?: Value, by?: Value): string[] {
  const [text, separator] = [asText(value), asText(by)];
  budget.search(text, separator);
  budget.make(text.length);
  const parts = text.split(separator, MOST_ITEMS + 1);
  budget.items(parts.length);
  return parts;
}

export function join(budget: Budget, value?: Value, by: Value = ''): string {
  if (value === undefined || !isList(value)) throw needs('a list', value);
  const separator = asText(by);
  budget.items(value.length);
  const texts = value.map(asText);
  const length = texts.reduce((sum, text) => sum + text.length + separator.length, 0);
  budget.make(length);
  return texts.join(separator);
}

function charactersIn(text: string, budget: Budget): bigint {
  budget.spend(text.length / CHARACTERS_COUNTED);
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.codePointAt(at)! <= 0xffff) continue;
    pairs += 1;
    at += 1;
  }
  return BigInt(text.length - pairs);
}
