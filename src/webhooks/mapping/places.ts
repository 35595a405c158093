import { parsePointer, resolveSteps } from '../../platform/json-pointer.js';
import {
  type ExactNumber,
  type Json,
  isExactNumber,
  isList,
  member,
  textOf,
} from '../reading/json.js';
import { shownStart } from '../../platform/text.js';
import type { JoinedPointers } from './mapping.js';

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

export interface Place {
  readonly fromBody: boolean;
  readonly steps: readonly string[];
}

/** Ways to a value, the best one first. One of several places gives them all, or nothing. */
export type Ways = readonly (readonly Place[])[];

/** What a pointer of a mapping can find. A text has no blanks at its ends. */
export type Scalar = string | number | boolean | ExactNumber;

/** Undefined when the text is no pointer. */
export function placeOf(pointer: string): Place | undefined {
  const fromBody = pointer.startsWith('^');
  const steps = parsePointer(fromBody ? pointer.slice(1) : pointer);
  return steps && { fromBody, steps };
}

export function waysOf(pointers: JoinedPointers = []): Ways {
  return [pointers].flat().flatMap((together) => {
    const places = [together].flat().map(placeOf);
    return places.every((place) => place !== undefined) ? [places] : [];
  });
}

/** Finds values in the events of one body. */
export class Finder {
  /** A body has up to a thousand events: what all of them share is looked up once. */
  private readonly shared = new Map<Place, Scalar | undefined>();

  constructor(readonly body: Json) {}

  /** The texts of the first way that leads to some, cut where they are too long. */
  texts(event: Json, ways: Ways): string[] | undefined {
    return this.first(event, ways)?.map((text) => shownStart(text, LONGEST_TEXT));
  }

  /** The same, but what is too long is not there: two that begin alike are two. */
  words(event: Json, ways: Ways): string[] | undefined {
    return this.first(event, ways, LONGEST_TEXT);
  }

  /** Every way's word that is there: the category of an event and the name of its rule both tell its type. */
  allWords(event: Json, ways: Ways): string[] {
    return [...new Set(ways.flatMap((way) => this.words(event, [way]) ?? []))];
  }

  scalar(event: Json, ways: Ways, fits: (value: Scalar) => boolean): Scalar | undefined {
    for (const [place] of ways) {
      const found = place && this.at(event, place);
      if (found !== undefined && fits(found)) return found;
    }
    return undefined;
  }

  /** The members of the first list that one of the ways leads to. */
  list(event: Json, ways: Ways): readonly Json[] {
    for (const [place] of ways) {
      const found = place && resolve(place.fromBody ? this.body : event, place.steps);
      if (isList(found)) return found;
    }
    return [];
  }

  private first(event: Json, ways: Ways, longest = Infinity): string[] | undefined {
    for (const places of ways) {
      const texts = places.map((place) => textOf(this.at(event, place)));
      if (texts.every((text) => text !== undefined && text.length <= longest)) {
        return texts as string[];
      }
    }
    return undefined;
  }

  private at(event: Json, place: Place): Scalar | undefined {
    if (!place.fromBody) return scalarAt(event, place);
    if (!this.shared.has(place)) this.shared.set(place, scalarAt(this.body, place));
    return this.shared.get(place);
  }
}

function scalarAt(value: Json, { steps }: Place): Scalar | undefined {
  const found = resolve(value, steps);
  return scalarOf(isList(found) ? found[0] : found);
}

function scalarOf(value: Json | undefined): Scalar | undefined {
  if (typeof value === 'string') return value.trim() || undefined;
  return typeof value === 'number' || typeof value === 'boolean' || isExactNumber(value)
    ? value
    : undefined;
}

/** What is longer is no id, no severity and no type. Of a title nobody sees more. */
const LONGEST_TEXT = 1_000;

const LONGEST_LIFTED = 2_000;
const ALL_LIFTED = 4 * 1024 * 1024;

/** How long a lifted text may be: all that are lifted from one body have a bound, however many events share them. */
export function longestLifted(events: number, keys: number): number {
  return Math.min(LONGEST_LIFTED, Math.floor(ALL_LIFTED / Math.max(1, events * keys)));
}

/** The event has the whole of it. */
export function lifted(value: Scalar, longest: number): Scalar {
  const text = isExactNumber(value) ? value.rawJSON : value;
  if (typeof text !== 'string' || text.length <= longest) return value;
  return shownStart(text, longest);
}
