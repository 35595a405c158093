import { isExactNumber, isList, isObject, type Json } from './event-json.js';

/** Matches a text that is only a time. A log line begins with a time and continues. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.,]{5,20} ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?)?$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** Numbers with a fraction and percentages, such as `93.4` and `93 %`, but no part of an address or a version. */
const MEASURED = /(?<![\w.])\d+(?:\.\d+(?![\w.]*\d)|(?= ?%))/g;
const STATE_KEY = /(?:status|state)$/i;
/** Members that hold the state of the alert, not the state of a connection or a request. */
const ALERT =
  /^(?:|data|essentials|details?|alert|incident|case|event|issue|problem|detection|finding|workflow|threat(?:info)?)$/i;
/** Members that hold the alert in many envelopes. In other envelopes they hold a log line, which a stranger may have written. */
const PAYLOAD = /^(?:data|details?)$/i;
const OVER_WORDS = 'resolved|recovered|closed|dismissed|fixed|archived|suppressed';
const OVER = new RegExp(`^(?:${OVER_WORDS})$`, 'i');
const OPEN =
  /^(?:(?:re-?)?open(?:ed)?|new|active|firing|alert(?:ing)?|triggered|in[ _-]?progress|acknowledged|assigned|pending|unresolved|ongoing|failing)$/i;
/** Excludes most events from the search, because they contain no such word. */
const MAYBE_OVER = new RegExp(`"(?:${OVER_WORDS})"`, 'i');
/** Keys of the alert, such as `status`, `incidentStatus`, `monitorCondition` and `alert_transition`. */
const OVER_KEY =
  /^(?:(?:alert|case|detection|event|finding|incident|issue|monitor|problem|threat|workflow)[_ .-]?)?(?:status|state|condition|transition)$/i;

/** Keys for the handling of the alert by people in the tool: assignment, comments, progress. */
const HANDLING_KEY = /^(?:assign(?:ed|ee)\w*|comments?|notes?)$/i;
const HANDLED = /^(?:new|open|in[ _-]?progress|acknowledged|assigned|triaged|pending)$/i;

/** Maximum number of values, objects and lists of an event that are compared. */
const MOST_VALUES = 25_000;

/**
 * Compares later events of an incident with the first event and the newest report. A new text or boolean at a path is news. Numbers, times
 * and the handling are not news, because they differ with each poll. An event with too many values is always news.
 */
export class KnownSayings {
  /** Maps each path to a number, because a key may be as long as the event. */
  private readonly paths = new Map<string, number>();
  private readonly first: ReadonlySet<string> | undefined;
  private newest: ReadonlySet<string> | undefined;

  constructor(first: Json, newest: Json = first) {
    this.first = this.read(first);
    this.newest = newest === first ? this.first : this.read(newest);
  }

  /** Makes the event the newest report. Returns true if the event is news. */
  add(event: Json): boolean {
    const [first, before] = [this.first, this.newest];
    this.newest = this.read(event);
    if (!first || !before || !this.newest) return true;
    return [...this.newest].some((saying) => !first.has(saying) && !before.has(saying));
  }

  /** Returns the texts and booleans of an event, each with its path. Returns `undefined` for more than MOST_VALUES values. */
  private read(event: Json): ReadonlySet<string> | undefined {
    const said = new Set<string>();
    let left = MOST_VALUES;
    /** Items of a list have the path of the list, so that their order does not matter. */
    const gather = (value: Json, path: number, key: string): void => {
      if ((left -= 1) < 0) return;
      if (isList(value)) {
        for (const item of value) gather(item, path, key);
      } else if (isObject(value)) {
        for (const name in value) {
          if (left < 0) return;
          if (!HANDLING_KEY.test(name)) gather(value[name]!, this.pathOf(path, name), name);
        }
      } else if (saysSomethingAt(key, value)) {
        said.add(`${path} ${typeof value === 'string' ? value.replace(MEASURED, '#') : value}`);
      }
    };
    gather(event, 0, '');
    return left < 0 ? undefined : said;
  }

  private pathOf(parent: number, key: string): number {
    const name = `${parent}/${key}`;
    const known = this.paths.get(name) ?? this.paths.size + 1;
    this.paths.set(name, known);
    return known;
  }
}

function saysSomethingAt(key: string, value: Json): value is string | boolean {
  if (typeof value !== 'string') return typeof value === 'boolean';
  if (TIME.test(value) || NUMBER.test(value)) return false;
  return !(STATE_KEY.test(key) && HANDLED.test(value));
}

/**
 * Returns the word of the tool for the end of the alert, such as `resolved` of Alertmanager.
 * @param text the event as JSON; @param holdsAlert true if a member such as `data` holds the alert
 */
export function overWordOf(
  event: Json,
  text: string,
  holdsAlert?: (member: string) => boolean,
): string | undefined {
  if (!MAYBE_OVER.test(text)) return undefined;
  return stateWordIn(event, OVER, '', { left: MOST_VALUES, holdsAlert });
}

/** True if the event has a state and the state is open. */
export function saysOpen(event: Json): boolean {
  return stateWordIn(event, OPEN, '', { left: MOST_VALUES }) !== undefined;
}

function stateWordIn(
  value: Json,
  words: RegExp,
  key: string,
  looks: { left: number; readonly holdsAlert?: (member: string) => boolean },
): string | undefined {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return undefined;
  // Other members may hold text of a host or an attacker, such as the body of a request.
  if (!ALERT.test(key)) return undefined;
  if (looks.holdsAlert && PAYLOAD.test(key) && !looks.holdsAlert(key)) return undefined;
  const members = value as Readonly<Record<string, Json>>;
  // Avoids a list of keys, because an event may have 50 000 keys.
  for (const name in members) {
    if ((looks.left -= 1) < 0) return undefined;
    const inner = members[name]!;
    if (typeof inner === 'string') {
      if (words.test(inner) && OVER_KEY.test(name)) return inner;
    } else {
      const word = stateWordIn(inner, words, isList(value) ? key : name, looks);
      if (word !== undefined) return word;
    }
  }
  return undefined;
}
