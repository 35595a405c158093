import { addressList, fieldValue } from '../../incidents/incident-fields.js';
import { inQuotes } from '../../incidents/titles.js';
import { parsePointer, resolveSteps } from '../../platform/json-pointer.js';
import { shownStart } from '../../platform/text.js';
import type { JoinedPointers, Mapping } from '../sources/webhook-source.entity.js';
import {
  type ExactNumber,
  isExactNumber,
  isList,
  isObject,
  type Json,
  saysSomething,
  textOf,
} from './event-json.js';
import type { Alert } from './words.js';

/** Step `[userAccount]` or `[threatType=url]`: the first item of a list with this key, and with this value in any case. */
const MEMBER = /^\[([^\]=]+)(?:=([^\]]*))?\]$/;

/**
 * Returns the value at the steps, or `undefined`. Beyond RFC 6901, a step may select an item of a list, because tools put many kinds of
 * evidence into one list, in any order.
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
    const said = (resolveSteps(item, [key]) ?? null) as Json;
    if (said === null || wanted === undefined) return said !== null;
    return textOf(said)?.toLowerCase() === wanted.toLowerCase();
  });
}

interface Place {
  readonly fromBody: boolean;
  readonly steps: readonly string[];
}

/** Places in order of priority. The values of an inner list are joined. */
type Ways = readonly (readonly Place[])[];

/** Pointers start at the objects of `within`. Texts that are not pointers are omitted. */
export function waysOf(pointers: JoinedPointers = [], within: readonly string[] = ['']): Ways {
  return [pointers].flat().flatMap((joined) =>
    within.flatMap((root) => {
      const places = [joined].flat().map((pointer) => placeOf(pointer, root));
      return places.every((place) => place !== undefined) ? [places] : [];
    }),
  );
}

function placeOf(pointer: string, root: string): Place | undefined {
  const fromBody = pointer.startsWith('^');
  const steps = parsePointer(fromBody ? pointer.slice(1) : root + pointer);
  return steps && { fromBody, steps };
}

/** An event, and the body at which `^` starts. */
export interface Found {
  readonly event: Json;
  readonly body: Json;
}

const at = ({ event, body }: Found, { fromBody, steps }: Place): Json | undefined =>
  resolve(fromBody ? body : event, steps);

/** Value at a pointer. Text has no spaces at its ends. */
type Scalar = string | number | boolean | ExactNumber;

/** Returns the value at the place. For a list, returns its first item. */
function scalarAt(found: Found, place: Place): Scalar | undefined {
  const value = at(found, place);
  const one = isList(value) ? value[0] : value;
  return typeof one === 'boolean' || typeof one === 'number' || isExactNumber(one)
    ? one
    : textOf(one);
}

/** Returns the texts of the first way whose places all have texts of at most this length. */
export function textsAt(found: Found, ways: Ways, longest = Infinity): string[] | undefined {
  for (const places of ways) {
    const texts = places.map((place) => textOf(scalarAt(found, place)));
    if (texts.every((text) => text !== undefined && text.length <= longest)) {
      return texts as string[];
    }
  }
  return undefined;
}

/** A longer text is not an id, a severity or a type, because two long texts may begin alike. A longer title is cut. */
const LONGEST_TEXT = 1_000;
/** A longer lifted text is cut. The event keeps the whole text. */
const LONGEST_LIFTED = 2_000;
/** Limit for the lifted texts of all events of a body together. */
const ALL_LIFTED = 4 * 1024 * 1024;

/** @param events number of events to read */
export function alertReader(
  mapping: Mapping,
  events: number,
  within?: readonly string[],
): (found: Found) => Alert {
  const [title, severity, eventId, type] = [
    mapping.title,
    mapping.severity,
    mapping.event_id,
    mapping.type,
  ].map((pointers) => waysOf(pointers, within)) as [Ways, Ways, Ways, Ways];
  const lifts = Object.entries(mapping.lift ?? {}).map(
    ([key, pointers]) => [key, waysOf(pointers, within)] as const,
  );
  const share = Math.floor(ALL_LIFTED / Math.max(1, events * lifts.length));
  const longest = Math.min(LONGEST_LIFTED, share);

  return (found) => {
    const lift: Record<string, Scalar> = {};
    for (const [key, ways] of lifts) {
      const value = liftedAt(found, key, ways);
      if (value !== undefined) lift[key] = cut(value, longest);
      // A mail may have several recipients, each with a copy in the mailbox.
      const all = key === 'recipient' && addressList(listAt(found, ways));
      if (all) lift['recipients'] ??= cut(all, longest);
    }
    const id = textsAt(found, eventId, LONGEST_TEXT);
    // A joined id is JSON, so that "a b" with "c" differs from "a" with "b c". The lifted id is plain text for people.
    if (id && id.length > 1) lift['event_id'] ??= cut(id.join(' '), longest);
    const said = textsAt(found, severity, LONGEST_TEXT)?.[0];
    const words = type.flatMap((way) => textsAt(found, [way], LONGEST_TEXT) ?? []);
    return {
      event: found.event,
      usualType: 'other',
      title: titleOf(textsAt(found, title), lift['subject']),
      eventId: id && (id.length === 1 ? id[0] : JSON.stringify(id)),
      words: words.length > 0 ? [...new Set(words)] : undefined,
      severity: said === undefined ? undefined : { said },
      lift: Object.keys(lift).length > 0 ? lift : undefined,
    };
  };
}

function liftedAt(found: Found, key: string, ways: Ways): Scalar | undefined {
  for (const [place] of ways) {
    const value = place && scalarAt(found, place);
    if (value !== undefined && fieldValue(key, textOf(value) ?? value) !== undefined) return value;
  }
  return undefined;
}

function listAt(found: Found, ways: Ways): readonly Json[] {
  return ways.map(([place]) => place && at(found, place)).find(isList) ?? [];
}

function cut(value: Scalar, longest: number): Scalar {
  const text = textOf(value);
  return text === undefined || text.length <= longest ? value : shownStart(text, longest);
}

/** Quotes the subject, because the sender of the mail wrote the subject and could imitate text of the tool. */
function titleOf(texts: readonly string[] | undefined, subject?: Scalar): string | undefined {
  return texts
    ?.map((text) => (text === subject ? inQuotes(text) : shownStart(text, LONGEST_TEXT)))
    .join(' - ');
}

/** True if the event has a title, a severity, an id or a type. */
export function isTold({ title, severity, eventId, words }: Alert): boolean {
  return [title, severity, eventId, words].some((part) => part !== undefined);
}

/** True if the mapping reads the title, the severity, the id or the type below a member of this name. */
export function readsIn(mapping: Mapping, name: string): boolean {
  const { title, severity, event_id, type } = mapping;
  const places = [title, severity, event_id, type].flatMap((pointers) => waysOf(pointers).flat());
  return places.some(({ fromBody, steps }) => !fromBody && steps.slice(0, -1).includes(name));
}

/** True if the list of events exists and no list of the body has an item, as in an empty page of a poller. */
export function isEmptyByMapping({ items }: Mapping, body: Json): boolean {
  const bodies = isList(body) ? body.filter(saysSomething) : [body];
  const leadsToList = (one: Json) =>
    waysOf(items).some(([place]) => place && isList(resolve(one, place.steps)));
  return bodies.every(leadsToList) && listsIn(body).every(isHollow);
}

/** True if the list has no item. An item with lists, such as a page of results, counts by its lists. */
function isHollow(list: readonly Json[]): boolean {
  return list.filter(saysSomething).every((item) => {
    const inner = listsIn(item);
    return inner.length > 0 && inner.every(isHollow);
  });
}

function listsIn(value: Json): readonly (readonly Json[])[] {
  if (isList(value)) return [value];
  return isObject(value) ? Object.values(value).flatMap(listsIn) : [];
}

const ITEMS_PER_TURN = 200;

/** Finds the events. Each item of a list is a body, unless the mapping reads the list as a whole. */
export function* eventsOf(mapping: Mapping, body: Json): Generator<void, readonly Found[]> {
  const items = mapping.items === undefined ? undefined : waysOf(mapping.items);
  const whole = yield* eventsIn(items, body);
  if (!isList(body)) return whole;
  yield;
  const read = alertReader(mapping, 1);
  for (const [index, found] of whole.entries()) {
    if (isTold(read(found))) return whole;
    if (index % ITEMS_PER_TURN === 0) yield;
  }
  const all: Found[] = [];
  for (const [index, member] of body.entries()) {
    if (index % ITEMS_PER_TURN === 0) yield;
    if (!saysSomething(member)) continue;
    const events = yield* eventsIn(items, member);
    if (events.length === 0) all.push({ event: member, body: member });
    else for (const event of events) all.push(event);
  }
  return all;
}

function* eventsIn(items: Ways | undefined, body: Json): Generator<void, readonly Found[]> {
  if (items === undefined) return [{ event: body, body }];
  const members: Found[] = [];
  let first: Json | undefined;
  for (const [place] of items) {
    const value = place && resolve(body, place.steps);
    if (isObject(value)) first ??= value;
    if (!isList(value)) continue;
    for (const [index, event] of value.entries()) {
      if (index % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) yield;
      if (saysSomething(event)) members.push({ event, body });
    }
  }
  if (members.length > 0) return members;
  return first === undefined ? [] : [{ event: first, body }];
}
