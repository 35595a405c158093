import { isList, isObject, type Json, type JsonObject } from './event-json.js';

/** Matches a text that is only a time. A log line begins with a time, but does not match. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.,]{5,20} ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?)?$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** Matches numbers with a fraction and percentages, such as `93.4` and `93 %`, but no part of an address or version. */
const MEASURED = /(?<![\w.])\d+(?:\.\d+(?![\w.]*\d)|(?= ?%))/g;
/** Members that may contain the state of the alert. Other members may have the state of a connection or a request. */
const ALERT =
  /^(?:|data|essentials|details?|alert|incident|case|event|issue|problem|detection|finding|workflow|threat(?:info)?)$/i;
/** Members that hold the alert in many envelopes. In other envelopes they hold a log line, which a stranger may have written. */
const PAYLOAD = /^(?:data|details?)$/i;
const OVER_WORDS = 'resolved|recovered|closed|dismissed|fixed|archived|suppressed';
const OVER = new RegExp(`^(?:${OVER_WORDS})$`, 'i');
/** A quick test on the JSON text, which excludes most events from the search. */
const MAYBE_OVER = new RegExp(`"(?:${OVER_WORDS})"`, 'i');
const OPEN =
  /^(?:(?:re-?)?open(?:ed)?|new|active|firing|alert(?:ing)?|triggered|in[ _-]?progress|acknowledged|assigned|pending|unresolved|ongoing|failing)$/i;
const STATE_KEY =
  /^(?:(?:alert|case|detection|event|finding|incident|issue|monitor|problem|threat|workflow)[_ .-]?)?(?:status|state|condition|transition)$/i;

const HANDLING_KEY = /^(?:assign(?:ed|ee)\w*|comments?|notes?)$/i;
const HANDLED_KEY = /(?:status|state)$/i;
const HANDLED = /^(?:new|open|in[ _-]?progress|acknowledged|assigned|triaged|pending)$/i;

/** Maximum number of values, objects and lists of an event. A larger event is not compared. */
const MOST_VALUES = 25_000;

/** A key may be as long as the event. */
const LONGEST_PATH = 200;

/** News is a new text or boolean at a path. Numbers, times and handling are no news: they differ in each poll. */
export function newsAfter(first: Json, newest?: Json): (event: Json) => boolean {
  const known = sayingsOf(first);
  let before = newest === undefined ? known : sayingsOf(newest);
  return (event) => {
    const [earlier, said] = [before, sayingsOf(event)];
    before = said;
    if (!known || !earlier || !said) return true;
    return [...said].some((saying) => !known.has(saying) && !earlier.has(saying));
  };
}

/** Returns texts and booleans with their paths; `undefined` if the event has more than MOST_VALUES values. */
function sayingsOf(event: Json): ReadonlySet<string> | undefined {
  const said = new Set<string>();
  let left = MOST_VALUES;
  /** Items of a list have the path of the list, so that their order does not matter. */
  const gather = (value: Json, path: string, key: string): void => {
    if ((left -= 1) < 0) return;
    if (isList(value)) {
      for (const item of value) gather(item, path, key);
    } else if (isObject(value)) {
      for (const name in value) {
        if (left < 0) return;
        if (HANDLING_KEY.test(name)) continue;
        gather(value[name]!, `${path}/${name}`.slice(-LONGEST_PATH), name);
      }
    } else if (typeof value === 'boolean') said.add(`${path} ${value}`);
    else if (typeof value === 'string' && !TIME.test(value) && !NUMBER.test(value)) {
      const isHandling = HANDLED_KEY.test(key) && HANDLED.test(value);
      if (!isHandling) said.add(`${path} ${value.replace(MEASURED, '#')}`);
    }
  };
  gather(event, '', '');
  return left < 0 ? undefined : said;
}

/** Returns the word of the tool for the end of the alert, such as `resolved` of Alertmanager. `text` is the event as JSON. */
export function overWordOf(event: Json, text: string, holdsAlert?: HoldsAlert): string | undefined {
  return MAYBE_OVER.test(text) ? stateWordIn(event, OVER, holdsAlert) : undefined;
}

export function saysOpen(event: Json): boolean {
  return stateWordIn(event, OPEN) !== undefined;
}

/** True if a member such as `data` holds the alert. */
type HoldsAlert = (member: string) => boolean;

function stateWordIn(event: Json, words: RegExp, holdsAlert: HoldsAlert = () => true) {
  let left = MOST_VALUES;
  const wordIn = (value: Json, key: string): string | undefined => {
    // Ignores all other members, because they may contain text of a host or an attacker, such as the body of a request.
    if (!ALERT.test(key) || (PAYLOAD.test(key) && !holdsAlert(key))) return undefined;
    if (!isObject(value) && !isList(value)) return undefined;
    const members = value as JsonObject;
    // Avoids a list of keys, because an event may have 50 000 keys.
    for (const name in members) {
      if ((left -= 1) < 0) return undefined;
      const inner = members[name]!;
      if (typeof inner === 'string' && words.test(inner) && STATE_KEY.test(name)) return inner;
      const word = wordIn(inner, isList(value) ? key : name);
      if (word !== undefined) return word;
    }
    return undefined;
  };
  return wordIn(event, '');
}
