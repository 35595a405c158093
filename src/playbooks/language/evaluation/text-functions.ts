import { MOST_ITEMS } from '../limits.js';
import type { Budget } from './budget.js';
import { asIndex, asText, isList, Mismatch, needs, type Value } from './values.js';

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

export function charactersIn(text: string, budget: Budget): bigint {
  budget.spend(text.length / CHARACTERS_COUNTED);
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.codePointAt(at)! <= 0xffff) continue;
    pairs += 1;
    at += 1;
  }
  return BigInt(text.length - pairs);
}
