import { EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { isIsoTime } from '../../platform/validation/fields.js';
import {
  asSentence,
  asText,
  asTruth,
  ExpressionError,
  fail,
  isList,
  isLoop,
  isMembers,
  kindOf,
  LANGUAGE,
  type Loop,
  memberOf,
  type Members,
  needs,
  type Node,
  positionOf,
  SEARCHES,
  TIME_PARTS,
  UnknownResultError,
  type Value,
} from './expression.js';

const OPERATORS = ['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%'] as const;

export type Scope = ReadonlyMap<string, Value>;

/** Maximum items of a list that an expression visits or builds. */
const MOST_ITEMS = 1_000;
/** Maximum length of a text that an expression builds, in UTF-16 units. */
const LONGEST_MADE_TEXT = 1_048_576;
const LARGEST_COST = 100_000;
/** Maximum cost of all steps together. In a playbook with more than 20 steps, each step may use an equal share. */
const LARGEST_COST_OF_ALL = 2_000_000;

/** Costs, in evaluations of one node. An error costs 400, because a loop may create an error for each item. */
const COST = { ofError: 400, ofRound: 4, ofKey: 3, ofCalculation: 4, ofZone: 3_000 };
/** Number of characters that can be read or written in the time of one node. */
const CHARACTERS = 64;
/** Number of character pairs that the slowest text search compares in the time of one node. */
const PAIRS = 128;
/** Number of characters that can be changed in the time of one node. */
const CHARACTERS_CHANGED = 4;
const CHARACTERS_COUNTED = 16;
const LONGEST_SHORT_TEXT = 40;
const TAKES_SHORT_TEXTS = ['int', 'double', 'bool', 'timestamp', 'duration', ...TIME_PARTS];

/** Text in which lowerAscii and upperAscii change letters. The library would also change letters that are not ASCII. */
const ASCII = /[\0-\x7f]+/g;
const CHANGES: Readonly<Record<string, (text: string) => string>> = {
  lowerAscii: (text) => text.replace(ASCII, (part) => part.toLowerCase()),
  upperAscii: (text) => text.replace(ASCII, (part) => part.toUpperCase()),
};

const prepared = new Map<string, ParseResult>();
const forms = LANGUAGE.clone({ unlistedVariablesAreDyn: true });

/** Evaluates a step's expressions. Limits work, not time, so that results do not depend on load: docs/adr/0030. */
export class Interpreter {
  private left: number;

  /** Gives each step a fixed share: the budget that earlier steps left would reveal values such as the verdict. */
  constructor(steps = 1) {
    this.left = Math.min(LARGEST_COST, LARGEST_COST_OF_ALL / steps);
  }

  value(node: Node, scope: Scope): Value {
    try {
      this.spend(1);
      return this.found(node, scope);
    } catch (error) {
      if (error instanceof ExpressionError) error.offset ??= positionOf(node);
      throw error;
    }
  }

  private found(node: Node, scope: Scope): Value {
    if (isBinary(node)) {
      const [left, right] = node.args;
      return this.operate(node.op, this.value(left, scope), this.value(right, scope));
    }
    switch (node.op) {
      case 'value':
        return node.args as Value;
      case 'id':
        return known(scope.get(node.args), node);
      case '.':
        return member(this.value(node.args[0], scope), node.args[1], node);
      case '[]':
        return at(this.value(node.args[0], scope), this.value(node.args[1], scope), node);
      case 'list':
        return this.values(node.args, scope);
      case 'map': {
        const members = Object.create(null) as Record<string, Value>;
        for (const [key, value] of node.args) {
          members[asText(this.value(key, scope))] = this.value(value, scope);
        }
        return members;
      }
      case '?:':
        return this.value(node.args[this.truth(node.args[0], scope) ? 1 : 2], scope);
      case '||':
      case '&&':
        return this.quantified(node.op === '||', node.args, (side) => this.truth(side, scope));
      case '!_':
        return !this.truth(node.args, scope);
      case '-_':
        return this.calculate('-a', [this.value(node.args, scope)]);
      case 'call':
        return node.args[0] === 'has'
          ? this.has(node.args[1], scope)
          : this.call(node.args[0], false, this.values(node.args[1], scope));
      case 'rcall': {
        const [name, first, more] = node.args;
        const receiver = this.value(first, scope);
        if (isLoop(name)) return this.loop(name, receiver, more, scope);
        return this.call(name, true, [receiver, ...this.values(more, scope)]);
      }
      case '.?':
      case '[?]':
        return fail('Optional values are not part of this language.');
    }
  }

  private values(nodes: readonly Node[], scope: Scope): Value[] {
    return nodes.map((node) => this.value(node, scope));
  }

  private truth(node: Node, scope: Scope): boolean {
    return asTruth(this.value(node, scope), positionOf(node));
  }

  private has([path]: readonly Node[], scope: Scope): boolean {
    if (path?.op !== '.') return fail('has() needs a path, such as incident.raw_data.sender.');
    const [before, name] = path.args;
    const value = this.value(before, scope);
    return isMembers(value) && memberOf(value, name) !== undefined;
  }

  private loop(name: Loop, over: Value, parts: readonly Node[], scope: Scope): Value {
    const [variable, first, second] = parts as [Extract<Node, { op: 'id' }>, Node, Node?];
    const items = isMembers(over) ? this.keys(over) : over;
    if (!isList(items)) return needs('a list or an object', over);
    this.visit(items.length);
    const within = (item: Value) => {
      this.spend(COST.ofRound);
      return new Map(scope).set(variable.args, item);
    };
    const holds = (item: Value) => this.truth(first, within(item));
    switch (name) {
      case 'map':
        return second
          ? items.filter(holds).map((item) => this.value(second, within(item)))
          : items.map((item) => this.value(first, within(item)));
      case 'filter':
        return items.filter(holds);
      case 'exists_one':
        return items.filter(holds).length === 1;
      case 'all':
      case 'exists':
        return this.quantified(name === 'exists', items, holds);
    }
  }

  /** Evaluates all() or exists(). In CEL, an item that decides the result hides the errors of all other items. */
  private quantified<T>(
    decides: boolean,
    items: readonly T[],
    holds: (item: T) => boolean,
  ): boolean {
    let failure: ExpressionError | undefined;
    for (const item of items) {
      try {
        if (holds(item) === decides) return decides;
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        this.spend(COST.ofError);
        // The unknown result might decide, so this error takes precedence over other errors.
        if (!failure || error instanceof UnknownResultError) failure = error;
      }
    }
    if (failure) throw failure;
    return !decides;
  }

  private call(name: string, isMethod: boolean, operands: readonly Value[]): Value {
    const [first = null, second = ''] = operands;
    if (name === 'dyn') return first;
    if (name === 'size' && isList(first)) return BigInt(first.length);
    if (name === 'size' && isMembers(first)) return BigInt(this.keys(first).length);
    if (name === 'join' && isList(first)) return this.join(first, asText(second));
    const texts = operands.filter((operand) => typeof operand === 'string');
    const [text = '', wanted = ''] = texts;
    // The library reads an empty text as 0, and a time without a time zone as local time.
    const isMisread =
      (name === 'int' && first === '') || (name === 'timestamp' && !isIsoTime(first));
    if (typeof first === 'string' && isMisread) fail(`This text has no ${name}().`);
    if (
      TAKES_SHORT_TEXTS.includes(name) &&
      texts.some(({ length }) => length > LONGEST_SHORT_TEXT)
    ) {
      fail(`This text is too long for ${name}().`);
    }
    if (TIME_PARTS.includes(name)) this.spend(texts.length * COST.ofZone);
    if (SEARCHES.includes(name)) this.spend((text.length * wanted.length) / PAIRS);
    if (name === 'size') this.spend(text.length / CHARACTERS_COUNTED);
    const change = CHANGES[name];
    if (change && typeof first === 'string') {
      this.spend(first.length / CHARACTERS_CHANGED);
      return change(first);
    }
    const names = [...'abcdefghi'].slice(0, operands.length);
    const form = isMethod ? `a.${name}(${names.slice(1).join()})` : `${name}(${names.join()})`;
    const value = this.calculate(form, operands);
    if (isList(value)) this.visit(value.length);
    return value;
  }

  private join(list: readonly Value[], separator: string): string {
    this.visit(list.length);
    const texts = list.map(asText);
    this.make(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
    return texts.join(separator);
  }

  private operate(sign: (typeof OPERATORS)[number], left: Value, right: Value): Value {
    if (sign === '==') return this.equal(left, right);
    if (sign === '!=') return !this.equal(left, right);
    if (sign === 'in') {
      if (isList(right)) return right.some((item) => this.equal(left, item));
      if (!isMembers(right)) return needs('a list or an object', right);
      return typeof left === 'string' && memberOf(right, left) !== undefined;
    }
    if (sign === '+' && isList(left) && isList(right)) {
      this.visit(left.length + right.length);
      return [...left, ...right];
    }
    if (sign === '+' && typeof left === 'string' && typeof right === 'string') {
      this.make(left.length + right.length);
    }
    return this.calculate(`a ${sign} b`, [left, right]);
  }

  /** Compares values. Values of different types are not equal, but an int equals the double of the same value. */
  private equal(left: Value, right: Value): boolean {
    this.spend(1);
    if (kindOf(left) !== kindOf(right)) return false;
    if (isList(left)) {
      const others = right as readonly Value[];
      return (
        left.length === others.length &&
        left.every((item, index) => this.equal(item, others[index]!))
      );
    }
    if (isMembers(left)) {
      const others = right as Members;
      const keys = this.keys(left);
      if (keys.length !== this.keys(others).length) return false;
      return keys.every((key) => {
        const other = memberOf(others, key);
        return other !== undefined && this.equal(left[key]!, other);
      });
    }
    if (typeof left === 'string' && left.length !== (right as string).length) return false;
    return this.calculate('a == b', [left, right]) === true;
  }

  /** Rejects lists and objects, because their cost has no bound and the library caches every type. */
  private calculate(form: string, operands: readonly Value[]): Value {
    this.spend(COST.ofCalculation);
    for (const operand of operands) {
      if (typeof operand === 'string') this.spend(operand.length / CHARACTERS);
      if (isList(operand) || isMembers(operand)) {
        fail(`This cannot be done with ${kindOf(operand)}.`);
      }
    }
    const evaluate = prepared.get(form) ?? forms.parse(form);
    prepared.set(form, evaluate);
    const [a, b, c, d] = operands;
    try {
      return evaluate({ a, b, c, d }) as Value;
    } catch (error) {
      if (error instanceof ExpressionError) throw error;
      return fail(
        error instanceof EvaluationError
          ? asSentence(error.summary)
          : 'The expression has no value.',
      );
    }
  }

  private spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) fail('The expression costs too much: its texts or lists are too long.');
  }

  private make(characters: number): void {
    if (characters > LONGEST_MADE_TEXT) {
      fail(`This makes a text of more than ${LONGEST_MADE_TEXT} characters.`);
    }
    this.spend(characters / CHARACTERS);
  }

  private keys(members: Members): string[] {
    const keys = Object.keys(members);
    this.spend(keys.length * COST.ofKey);
    return keys;
  }

  private visit(items: number): void {
    if (items > MOST_ITEMS) fail(`This list has more than ${MOST_ITEMS} items.`);
    this.spend(items);
  }
}

function isBinary(node: Node): node is Extract<Node, { op: (typeof OPERATORS)[number] }> {
  return (OPERATORS as readonly string[]).includes(node.op);
}

function member(value: Value, name: string, node: Node): Value {
  return known(isMembers(value) ? memberOf(value, name) : undefined, node);
}

export const UNKNOWN_STEP: Members = {};

function known(value: Value | undefined, { input, start, end }: Node): Value {
  const path = input.slice(start, end);
  if (value === UNKNOWN_STEP) throw new UnknownResultError(`Only a real run knows ${path}.`);
  return value === undefined ? fail(`${path} does not exist.`) : value;
}

function at(value: Value, index: Value, node: Node): Value {
  if (!isList(value)) return member(value, asText(index), node);
  const isNumber = typeof index === 'number' || typeof index === 'bigint';
  const found = isNumber ? value[Number(index)] : undefined;
  return found === undefined ? fail('The list has no item there.') : found;
}
