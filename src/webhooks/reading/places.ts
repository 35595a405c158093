import { parsePointer, resolveSteps } from '../../platform/json-pointer.js';
import { shownStart } from '../../platform/text.js';
import type { JoinedPointers } from '../sources/webhook-source.entity.js';
import { type ExactNumber, isExactNumber, isList, type Json, member, textOf } from './json.js';

/** `[userAccount]` or `[threatType=url]`: the first item of a list that has the key, with this value in any case. */
const MEMBER = /^\[([^\]=]+)(?:=([^\]]*))?\]$/;

/**
 * Returns the value at the steps, or `undefined`. Beyond RFC 6901, a step may select an item of a list, because tools put evidence of many
 * kinds into one list, in any order.
 */
export function resolve(value: Json, steps: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const step of steps) {
    const [, key, wanted] = (isList(at) && MEMBER.exec(step)) || [];
    if (key === undefined) at = resolveSteps(at, [step]) as Json | undefined;
    else at = itemWith(at as readonly Json[], key, wanted);
  }
  return at;
}

function itemWith(list: readonly Json[], key: string, wanted: string | undefined) {
  return list.find((item) => {
    const said = member(item, key) ?? null;
    if (said === null || wanted === undefined) return said !== null;
    return textOf(said)?.toLowerCase() === wanted.toLowerCase();
  });
}

interface Place {
  readonly fromBody: boolean;
  readonly steps: readonly string[];
}

/** Places in order of priority. The values of an inner list are joined. */
export type Ways = readonly (readonly Place[])[];

/** A value that a pointer can find. Text has no spaces at its ends. */
export type Scalar = string | number | boolean | ExactNumber;

/** `undefined` if the text is not a pointer. */
export function placeOf(pointer: string): Place | undefined {
  const fromBody = pointer.startsWith('^');
  const steps = parsePointer(fromBody ? pointer.slice(1) : pointer);
  return steps && { fromBody, steps };
}

export function waysOf(pointers: JoinedPointers = []): Ways {
  return [pointers].flat().flatMap((joined) => {
    const places = [joined].flat().map(placeOf);
    return places.every((place) => place !== undefined) ? [places] : [];
  });
}

/** A longer text is not an id, a severity or a type. A title shows less. */
const LONGEST_TEXT = 1_000;

/** Finds values in the events of one body. */
export class Finder {
  constructor(readonly body: Json) {}

  /** Texts of the first way that leads to a value. Long texts are cut. */
  texts(event: Json, ways: Ways): string[] | undefined {
    return this.first(event, ways)?.map((text) => shownStart(text, LONGEST_TEXT));
  }

  /** Texts of the first way that leads to a value. Long texts do not count, because two of them may begin alike. */
  words(event: Json, ways: Ways): string[] | undefined {
    return this.first(event, ways, LONGEST_TEXT);
  }

  /** Words of all ways, because the category and the name of the rule both determine the type. */
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

  /** Items of the first list that a way leads to. */
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
    return scalarAt(place.fromBody ? this.body : event, place);
  }
}

function scalarAt(value: Json, { steps }: Place): Scalar | undefined {
  const found = resolve(value, steps);
  const scalar = isList(found) ? found[0] : found;
  if (typeof scalar === 'string') return scalar.trim() || undefined;
  const isScalar =
    typeof scalar === 'number' || typeof scalar === 'boolean' || isExactNumber(scalar);
  return isScalar ? scalar : undefined;
}

/** Cuts a lifted text. The event has all of it. */
export function lifted(value: Scalar, longest: number): Scalar {
  const text = isExactNumber(value) ? value.rawJSON : value;
  if (typeof text !== 'string' || text.length <= longest) return value;
  return shownStart(text, longest);
}
