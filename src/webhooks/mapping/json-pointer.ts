import { resolveSteps } from '../../platform/json-pointer.js';
import { isList, type Json, member, textOf } from '../reading/json.js';

export { parsePointer } from '../../platform/json-pointer.js';

/** `[userAccount]` or `[threatType=url]`: the first member of a list that has the key, with this value in any case. */
const MEMBER = /^\[([^\]=]+)(?:=([^\]]*))?\]$/;

/**
 * What the steps lead to in an event, or undefined when they lead nowhere. Beyond RFC 6901 a step may choose a member of a list,
 * because tools put evidence of many kinds into one list, in any order.
 */
export function resolve(value: Json, steps: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const step of steps) {
    if (at === undefined) return undefined;
    const chosen: readonly (string | undefined)[] = (isList(at) && MEMBER.exec(step)) || [];
    const [, key, wanted] = chosen;
    at =
      key === undefined
        ? (resolveSteps(at, [step]) as Json | undefined)
        : memberOf(at, key, wanted);
  }
  return at;
}

function memberOf(list: Json, key: string, wanted: string | undefined): Json | undefined {
  if (!isList(list)) return undefined;
  return list.find((one) => {
    const said = member(one, key);
    if (said === undefined || said === null) return false;
    return wanted === undefined || textOf(said)?.toLowerCase() === wanted.toLowerCase();
  });
}
