import type { Node } from '../expression-tree.js';
import {
  asIndex,
  asText,
  isList,
  isMembers,
  kindOf,
  memberOf,
  Mismatch,
  type Value,
} from './values.js';

export function literal(value: Extract<Node, { op: 'value' }>['args']): Value {
  if (typeof value === 'object' && value !== null) {
    throw new Mismatch('Bytes and unsigned numbers are not part of this language.');
  }
  return value;
}

export function named(name: string, scope: ReadonlyMap<string, Value>): Value {
  const value = scope.get(name);
  if (value === undefined) throw new Mismatch(`There is no ${name} here.`);
  return value;
}

export function member(value: Value, name: string): Value {
  if (!isMembers(value)) throw new Mismatch(`There is no ${name} in ${kindOf(value)}.`);
  const found = memberOf(value, name);
  if (found === undefined) throw new Mismatch(`There is no ${name} here.`);
  return found;
}

export function at(value: Value, index: Value): Value {
  if (!isList(value)) return member(value, asText(index));
  const found = value[asIndex(index)];
  if (found === undefined) throw new Mismatch('The list has no item there.');
  return found;
}
