import { isLoop, type Loop, type Node, positionOf } from './expression.js';
import {
  asText,
  asTruth,
  type Budget,
  calculate,
  call,
  ExpressionError,
  fail,
  isList,
  isMembers,
  kindOf,
  memberOf,
  type Members,
  needs,
  operate,
  OPERATORS,
  type Value,
} from './operations.js';

type NodeOf<Operator extends Node['op']> = Extract<Node, { op: Operator }>;

export type Scope = ReadonlyMap<string, Value>;

/** Cost of an error in nodes. A loop may create an error for each item. */
const COST_OF_ERROR = 400;
const COST_OF_ROUND = 4;

/**
 * Evaluates a tree of readExpression by the rules of CEL. The interpreter walks the tree and counts, and the library
 * calculates. A test compares the interpreter with the evaluator of the library, whose cost has no bound: see docs/adr/0030.
 */
export class Interpreter {
  constructor(private readonly budget: Budget) {}

  /** Returns the value of the expression. Throws ExpressionError with the position. */
  value(node: Node, scope: Scope): Value {
    try {
      this.budget.spend(1);
      return this.found(node, scope);
    } catch (error) {
      if (!(error instanceof ExpressionError) || error.offset !== undefined) throw error;
      return fail(error.message, positionOf(node));
    }
  }

  private found(node: Node, scope: Scope): Value {
    if (isBinary(node)) {
      const [left, right] = this.values(node.args, scope) as [Value, Value];
      return operate(node.op, left, right, this.budget);
    }
    switch (node.op) {
      case 'value':
        return node.args as Value;
      case 'id':
        return known(scope.get(node.args), node.args);
      case '.':
        return member(this.value(node.args[0], scope), node.args[1]);
      case '[]':
        return at(this.value(node.args[0], scope), this.value(node.args[1], scope));
      case 'list':
        return this.values(node.args, scope);
      case 'map':
        return this.members(node, scope);
      case '?:':
        return this.value(node.args[this.truth(node.args[0], scope) ? 1 : 2], scope);
      case '||':
      case '&&':
        return this.quantified(node.op === '||', node.args, (side) => this.truth(side, scope));
      case '!_':
        return !this.truth(node.args, scope);
      case '-_':
        return calculate('-a', [this.value(node.args, scope)], this.budget);
      case 'call':
        return node.args[0] === 'has'
          ? this.has(node.args[1], scope)
          : call(node.args[0], false, this.values(node.args[1], scope), this.budget);
      case 'rcall': {
        const [name, first, more] = node.args;
        const receiver = this.value(first, scope);
        if (isLoop(name)) return this.loop(name, receiver, more, scope);
        return call(name, true, [receiver, ...this.values(more, scope)], this.budget);
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

  /** True if the last member of a path exists. The members before the last member must exist. */
  private has([path]: readonly Node[], scope: Scope): boolean {
    if (path?.op !== '.') return fail('has() needs a path, such as incident.raw_data.sender.');
    const [before, name] = path.args;
    const value = this.value(before, scope);
    return isMembers(value) && memberOf(value, name) !== undefined;
  }

  private loop(name: Loop, over: Value, parts: readonly Node[], scope: Scope): Value {
    const [variable, first, second] = parts as [NodeOf<'id'>, Node, Node?];
    const items = isMembers(over) ? this.budget.keys(over) : over;
    if (!isList(items)) return needs('a list or an object', over);
    this.budget.items(items.length);
    const within = (item: Value) => {
      this.budget.spend(COST_OF_ROUND);
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

  /** In CEL, an item that decides the result hides the errors of other items. */
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
        this.budget.spend(COST_OF_ERROR);
        failure ??= error;
      }
    }
    if (failure) throw failure;
    return !decides;
  }

  private members(node: NodeOf<'map'>, scope: Scope): Members {
    const members = Object.create(null) as Record<string, Value>;
    for (const [key, value] of node.args) {
      members[asText(this.value(key, scope))] = this.value(value, scope);
    }
    return members;
  }
}

function isBinary(node: Node): node is NodeOf<(typeof OPERATORS)[number]> {
  return (OPERATORS as readonly string[]).includes(node.op);
}

function member(value: Value, name: string): Value {
  return known(isMembers(value) ? memberOf(value, name) : undefined, name, kindOf(value));
}

function known(value: Value | undefined, name: string, where = 'an expression'): Value {
  return value === undefined ? fail(`There is no ${name} in ${where}.`) : value;
}

function at(value: Value, index: Value): Value {
  if (!isList(value)) return member(value, asText(index));
  const isNumber = typeof index === 'number' || typeof index === 'bigint';
  const found = isNumber ? value[Number(index)] : undefined;
  return found === undefined ? fail('The list has no item there.') : found;
}
