import { isObject, type Json } from '../reading/json.js';

/** The steps of a JSON pointer (RFC 6901), or undefined when the text is none. The empty text leads to the whole value. */
export function parsePointer(text: string): string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text.slice(1).split('/').map(unescaped);
}

/** In this order: `~01` stands for `~1`, and not for a slash. */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** What the steps lead to, or undefined when they lead nowhere. They see what is in the value itself, never its prototype. */
export function resolve(value: Json, steps: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const step of steps) {
    at = next(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

/** No zeros in front; and not `-`, which stands for the item after the last one. */
const INDEX = /^(?:0|[1-9]\d{0,9})$/;

function next(value: Json, step: string): Json | undefined {
  if (isList(value)) return INDEX.test(step) ? value[Number(step)] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/** Array.isArray does not tell TypeScript about lists that cannot be changed. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
