import { isExactNumber, isList, isObject, type Json } from '../reading/json.js';

/** All of the text: a line of a log begins with a time, too. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.,]{5,20} ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?)?$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** Keys such as `status`, `incidentStatus` and `state`. */
const STATE_KEY = /(?:status|state)$/i;
/** Where the state of the alert itself stands, and not that of a connection or a request. */
const ALERT =
  /^(?:|data|details?|alert|incident|case|event|issue|problem|detection|finding|workflow|threat(?:info)?)$/i;
const OVER = /^(?:resolved|closed|dismissed|fixed|archived|suppressed)$/i;

/** What people do with the alert in their tool: who has it, what they write, that somebody works on it. */
const HANDLING_KEY = /^(?:assign(?:ed|ee)\w*|comments?|notes?)$/i;
const HANDLED = /^(?:new|open|in[ _-]?progress|acknowledged|assigned|triaged|pending)$/i;

/** More than tools send. What comes after them is not looked at. */
const MOST_LEAVES = 20_000;

/** A value with where it stands. Paths are numbers, since the keys of an event may be as long as the event. */
interface Leaf {
  readonly path: number;
  /** The names of the members that lead to it, the last two. */
  readonly key: string;
  readonly parent: string;
  readonly isHandling: boolean;
  readonly value: Json;
}

class Leaves {
  private readonly paths = new Map<string, number>();

  of(event: Json): Leaf[] {
    const leaves: Leaf[] = [];
    this.gather(event, { path: 0, key: '', parent: '', isHandling: false }, leaves);
    return leaves;
  }

  /** Members of a list have the path of the list, so that their order does not matter. */
  private gather(value: Json, place: Omit<Leaf, 'value'>, leaves: Leaf[]): void {
    if (leaves.length >= MOST_LEAVES) return;
    if (isList(value)) {
      for (const item of value) this.gather(item, place, leaves);
    } else if (isObject(value) && !isExactNumber(value)) {
      for (const [key, inner] of Object.entries(value)) {
        const isHandling = place.isHandling || HANDLING_KEY.test(key);
        const path = this.pathOf(place.path, key);
        this.gather(inner, { path, key, parent: place.key, isHandling }, leaves);
      }
    } else {
      leaves.push({ ...place, value });
    }
  }

  private pathOf(parent: number, key: string): number {
    const name = `${parent}/${key}`;
    const known = this.paths.get(name) ?? this.paths.size + 1;
    this.paths.set(name, known);
    return known;
  }
}

/**
 * Whether the event says something that the known ones do not: a text or a truth value in its place. Numbers and times
 * alone say nothing new, because tools count and date the same alert again with each poll, and neither does its handling.
 */
export function saysMore(event: Json, known: readonly Json[]): boolean {
  const leaves = new Leaves();
  const before = new Set(known.flatMap((one) => leaves.of(one).flatMap(sayingOf)));
  return leaves
    .of(event)
    .flatMap(sayingOf)
    .some((saying) => !before.has(saying));
}

/** Whether the tool says that its alert is over, as Alertmanager does with `"status": "resolved"`. */
export function saysItIsOver(event: Json): boolean {
  return new Leaves().of(event).some(({ key, parent, value }) => {
    return (
      STATE_KEY.test(key) && ALERT.test(parent) && typeof value === 'string' && OVER.test(value)
    );
  });
}

function sayingOf({ path, key, isHandling, value }: Leaf): string[] {
  if (isHandling) return [];
  if (typeof value === 'boolean') return [`${path} ${value}`];
  if (typeof value !== 'string' || TIME.test(value) || NUMBER.test(value)) return [];
  return STATE_KEY.test(key) && HANDLED.test(value) ? [] : [`${path} ${value}`];
}
