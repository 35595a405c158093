import { isExactNumber, isList, isObject, type Json } from '../reading/json.js';

const TIME = /^\d{4}-\d\d-\d\d(?:[T ]|$)/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** Keys such as `status`, `incidentStatus` and `state`. */
const STATE_KEY = /(?:status|state)$/i;
const OVER = /^(?:resolved|closed|dismissed|fixed|archived|suppressed)$/i;

/** What people do with the alert in their tool: who has it, what they write, that somebody works on it. */
const HANDLING_KEY = /\/(?:assign(?:ed|ee)\w*|comments?|notes?)(?:\/|$)/i;
const HANDLED = /^(?:new|open|in[ _-]?progress|acknowledged|assigned|triaged|pending)$/i;

/**
 * Whether the event says something that the known ones do not: a text or a truth value in its place. Numbers and times
 * alone say nothing new, because tools count and date the same alert again with each poll, and neither does its handling.
 */
export function saysMore(event: Json, known: readonly Json[]): boolean {
  const before = new Set(known.flatMap((one) => sayingsOf(one)));
  return sayingsOf(event).some((saying) => !before.has(saying));
}

/** Whether the tool says that its alert is over, as Alertmanager does with `"status": "resolved"`. */
export function saysItIsOver(event: Json): boolean {
  return leavesOf(event).some(
    ([key, value]) => STATE_KEY.test(key) && typeof value === 'string' && OVER.test(value),
  );
}

function sayingsOf(event: Json): string[] {
  return leavesOf(event).flatMap(([key, value]) => {
    if (HANDLING_KEY.test(key)) return [];
    if (typeof value === 'boolean') return [`${key} ${value}`];
    if (typeof value !== 'string' || TIME.test(value) || NUMBER.test(value)) return [];
    return STATE_KEY.test(key) && HANDLED.test(value) ? [] : [`${key} ${value}`];
  });
}

/** Each value with its path. Members of a list have the path of the list, so that their order does not matter. */
function leavesOf(value: Json, path = ''): [path: string, value: Json][] {
  if (isList(value)) return value.flatMap((item) => leavesOf(item, path));
  if (!isObject(value) || isExactNumber(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, item]) => leavesOf(item, `${path}/${key}`));
}
