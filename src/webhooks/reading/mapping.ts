import { addressList, fieldValue } from '../../incidents/incident-fields.js';
import { inQuotes } from '../../incidents/titles.js';
import { parsePointer, resolveSteps } from '../../platform/json-pointer.js';
import { shownStart } from '../../platform/text.js';
import type { JoinedPointers, Mapping } from '../sources/webhook-source.entity.js';
import { isList, isObject, type Json, saysSomething, textOf } from './event-json.js';
import type { Alert } from './words.js';

/** Maximum events that are read and settled together. A body with more events is settled in parts. */
export const MOST_EVENTS = 1_000;

/** Steps beyond RFC 6901: `[userAccount]` selects the first item with this key, `[threatType=url]` with this value. */
const MEMBER = /^\[([^\]=]+)(?:=([^\]]*))?\]$/;

export function resolve(value: Json, steps: readonly string[]): Json | undefined {
  return steps.reduce<Json | undefined>((at, step) => {
    const [, key, wanted] = (isList(at) && MEMBER.exec(step)) || [];
    if (key === undefined) return resolveSteps(at, [step]) as Json | undefined;
    return (at as readonly Json[]).find((item) => {
      const said = (resolveSteps(item, [key]) ?? null) as Json;
      if (said === null || wanted === undefined) return said !== null;
      return textOf(said)?.toLowerCase() === wanted.toLowerCase();
    });
  }, value);
}

interface Place {
  readonly fromBody: boolean;
  readonly steps: readonly string[];
}

/** Alternatives, in order of priority. If an alternative has several places, their values are joined. */
type Ways = readonly (readonly Place[])[];

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

/** Event, and the body at which a pointer with `^` starts. */
export interface Found {
  readonly event: Json;
  readonly body: Json;
}

const at = ({ event, body }: Found, { fromBody, steps }: Place): Json | undefined =>
  resolve(fromBody ? body : event, steps);

function valueAt(found: Found, place: Place): string | boolean | undefined {
  const value = at(found, place);
  const one = isList(value) ? value[0] : value;
  return typeof one === 'boolean' ? one : textOf(one);
}

/** Returns the texts of the first alternative in which every place has a text of at most `longest` characters. */
export function textsAt(found: Found, ways: Ways, longest = Infinity): string[] | undefined {
  for (const places of ways) {
    const texts = places.map((place) => valueAt(found, place));
    const fits = (text: unknown) => typeof text === 'string' && text.length <= longest;
    if (texts.every(fits)) return texts as string[];
  }
  return undefined;
}

/** Longer ids, severities and types are ignored and not cut: two long texts may begin with the same characters. */
const LONGEST_TEXT = 1_000;
const LONGEST_LIFTED = 2_000;
/** Maximum total length of the texts in `fields` of an event. Many events may share a long text of their body. */
const ALL_LIFTED = 8_192;

type ReadAlert = (found: Found) => Alert;

const readers = new WeakMap<Mapping, ReadAlert>();

export function alertReader(mapping: Mapping, within?: readonly string[]): ReadAlert {
  const known = readers.get(mapping);
  if (known) return known;
  const of = (pointers: JoinedPointers | undefined) => waysOf(pointers, within);
  const { title, severity, event_id, type, lift = {} } = mapping;
  const [titles, severities, ids, types] = [of(title), of(severity), of(event_id), of(type)];
  const lifts = Object.entries(lift).map(([key, pointers]) => [key, of(pointers)] as const);

  const reader: ReadAlert = (found) => {
    const lifted: Record<string, string> = {};
    let room = ALL_LIFTED;
    const put = (key: string, text: string | undefined) => {
      if (!text || room === 0 || Object.hasOwn(lifted, key)) return;
      lifted[key] = shownStart(text, Math.min(LONGEST_LIFTED, room));
      room -= lifted[key].length;
    };
    for (const [key, places] of lifts) {
      const fits = ([place]: Ways[number]) => fieldValue(key, valueAt(found, place!)) !== undefined;
      const first = places.find(fits);
      put(key, first && String(valueAt(found, first[0]!)));
      // A mail may have several recipients, and each mailbox contains a copy.
      if (key !== 'recipient') continue;
      const lists = places.map(([place]) => at(found, place!)).filter(isList);
      put('recipients', addressList(lists[0] ?? []));
    }
    const id = textsAt(found, ids, LONGEST_TEXT);
    // An id of several parts is JSON, because joined parts are ambiguous. The copy in `fields` is text for people.
    if (id && id.length > 1) put('event_id', id.join(' '));
    // Quotes the subject, because the sender of the mail wrote the subject and could imitate text of the tool.
    const shown = textsAt(found, titles)?.map((text) =>
      text === lifted['subject'] ? inQuotes(text) : shownStart(text, LONGEST_TEXT),
    );
    const said = textsAt(found, severities, LONGEST_TEXT)?.[0];
    const words = types.flatMap((way) => textsAt(found, [way], LONGEST_TEXT) ?? []);
    return {
      event: found.event,
      usualType: 'other',
      title: shown?.join(' - '),
      eventId: id && (id.length === 1 ? id[0] : JSON.stringify(id)),
      words: words.length > 0 ? [...new Set(words)] : undefined,
      severity: said === undefined ? undefined : { said },
      lift: Object.keys(lifted).length > 0 ? lifted : undefined,
    };
  };
  readers.set(mapping, reader);
  return reader;
}

export function isTold({ title, severity, eventId, words }: Alert): boolean {
  return [title, severity, eventId, words].some((part) => part !== undefined);
}

/** True if the mapping reads the title, the severity, the id or the type at a place below a member with this name. */
export function readsIn(mapping: Mapping, name: string): boolean {
  const { title, severity, event_id, type } = mapping;
  const places = [title, severity, event_id, type].flatMap((pointers) => waysOf(pointers).flat());
  return places.some(({ fromBody, steps }) => !fromBody && steps.slice(0, -1).includes(name));
}

/** True for an empty page of a poller: the list of events exists, and no list of the body has an item. */
export function isEmptyByMapping({ items }: Mapping, body: Json): boolean {
  const ways = waysOf(items);
  const bodies = isList(body) ? body.filter(saysSomething) : [body];
  const isPage = (one: Json) => ways.some(([place]) => isList(resolve(one, place!.steps)));
  return bodies.every(isPage) && !listsIn(body).some(hasItem);
}

/** An item with lists, such as a page of results, counts only if a list in it has an item. */
function hasItem(list: readonly Json[]): boolean {
  return list.filter(saysSomething).some((item) => {
    const inner = listsIn(item);
    return inner.length === 0 || inner.some(hasItem);
  });
}

function listsIn(value: Json): readonly (readonly Json[])[] {
  if (isList(value)) return [value];
  return isObject(value) ? Object.values(value).flatMap(listsIn) : [];
}

/** Finds the events in a body. Each item of a list is a separate body, unless the mapping can read the whole list. */
export function eventsOf(mapping: Mapping, body: Json): readonly Found[] {
  const items = mapping.items === undefined ? undefined : waysOf(mapping.items);
  const whole = eventsIn(items, body);
  if (!isList(body)) return whole;
  const read = alertReader(mapping);
  if (whole.slice(0, MOST_EVENTS).some((found) => isTold(read(found)))) return whole;
  return body.filter(saysSomething).flatMap((member) => {
    const events = eventsIn(items, member);
    return events.length > 0 ? events : [{ event: member, body: member }];
  });
}

function eventsIn(items: Ways | undefined, body: Json): readonly Found[] {
  if (items === undefined) return [{ event: body, body }];
  const values = items.map(([place]) => resolve(body, place!.steps));
  const members = values.filter(isList).flatMap((list) => list.filter(saysSomething));
  const only = members.length > 0 ? undefined : values.find(isObject);
  return (only ? [only] : members).map((event) => ({ event, body }));
}
