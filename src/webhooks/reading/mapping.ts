import { addressList, fieldValue } from '../../incidents/incident-fields.js';
import { inQuotes } from '../../incidents/titles.js';
import { atOnce } from '../../platform/concurrency/semaphore.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import type { Mapping, ReadingRules } from '../sources/webhook-source.entity.js';
import { isList, isObject, type Json, saysSomething, textOf } from './json.js';
import { Finder, lifted, placeOf, resolve, type Scalar, type Ways, waysOf } from './places.js';
import { type Alert, severityMappingProblems, typeMappingProblems } from './words.js';

export const MOST_POINTERS = 10;
export const LONGEST_POINTER = 512;
export const MOST_LIFTED = 32;
const LIFT_KEY = /^[a-z][a-z0-9_]{0,63}$/;

/** Whether lists of pointers are allowed, whose values are joined. */
const FIELDS = new Map([
  ['items', false],
  ['title', true],
  ['severity', false],
  ['event_id', true],
  ['type', false],
]);

/** A mapping without any of these fields cannot recognise an event. */
const TELLING = ['title', 'severity', 'event_id', 'type'];

/** Problems of the settings by which the events of a source are read. */
export function readingProblems(
  rules: Pick<Partial<ReadingRules>, 'mapping' | 'severity_mapping' | 'type_mapping'>,
): FieldError[] {
  const { mapping, severity_mapping, type_mapping } = rules;
  return [
    ...(mapping ? mappingProblems(mapping) : []),
    ...(severity_mapping ? severityMappingProblems(severity_mapping) : []),
    ...(type_mapping ? typeMappingProblems(type_mapping) : []),
  ];
}

/** Problems of a mapping that an administrator gives. `field` is its path in the request. */
export function mappingProblems(mapping: unknown, field = 'mapping'): FieldError[] {
  if (!isRecord(mapping)) return [problem(field, 'is_json_object', 'must be an object')];
  const fields = Object.entries(mapping).filter(([, value]) => value !== undefined);
  const problems = fields.flatMap(([name, value]) => {
    const path = `${field}.${shownName(name)}`;
    const joined = FIELDS.get(name);
    if (joined !== undefined) return pointersProblems(value, path, joined);
    if (name === 'lift') return liftProblems(value, path);
    return [problem(path, 'unknown_field', 'is not a known field')];
  });
  if (fields.some(([name]) => TELLING.includes(name))) return problems;
  const needed = `must have at least one of: ${TELLING.join(', ')}`;
  return [...problems, problem(field, 'required', needed)];
}

function liftProblems(lift: unknown, field: string): FieldError[] {
  if (!isRecord(lift)) return [problem(field, 'is_json_object', 'must be an object')];
  const keys = Object.keys(lift);
  if (keys.length > MOST_LIFTED) {
    return [problem(field, 'size', `must have at most ${MOST_LIFTED} keys`)];
  }
  return keys.flatMap((key) => {
    const path = `${field}.${shownName(key)}`;
    return LIFT_KEY.test(key)
      ? pointersProblems(lift[key], path, false)
      : [problem(path, 'matches', `must be a key that matches ${LIFT_KEY.source}`)];
  });
}

function pointersProblems(pointers: unknown, field: string, joined: boolean): FieldError[] {
  if (typeof pointers === 'string') return pointerProblems(pointers, field);
  if (!Array.isArray(pointers)) {
    return [problem(field, 'json_pointer', 'must be a JSON pointer or a list of them')];
  }
  if (pointers.length === 0 || pointers.length > MOST_POINTERS) {
    return [problem(field, 'size', `must have 1 to ${MOST_POINTERS} pointers`)];
  }
  return pointers.flatMap((pointer: unknown, at) => {
    const path = `${field}.${at}`;
    return joined && Array.isArray(pointer)
      ? pointersProblems(pointer, path, false)
      : pointerProblems(pointer, path);
  });
}

function pointerProblems(pointer: unknown, field: string): FieldError[] {
  if (typeof pointer === 'string' && pointer.length > LONGEST_POINTER) {
    return [problem(field, 'max_length', `must have at most ${LONGEST_POINTER} characters`)];
  }
  if (typeof pointer === 'string' && placeOf(pointer)) return [];
  return [problem(field, 'json_pointer', 'must be a JSON pointer, such as /alert/title')];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problem(field: string, code: string, what: string): FieldError {
  return { field, code, message: `${field} ${what}.` };
}

/** Number of events that are read and settled together. A body with more is settled in parts. */
export const MOST_EVENTS = 1_000;

/** Events of a body to read. */
export interface Part {
  readonly from: number;
  /** At most MOST_EVENTS. */
  readonly most: number;
}

export const FIRST_PART: Part = { from: 0, most: MOST_EVENTS };

/** The first part decides for all parts whether the body fits. */
export function isFirst({ from, most }: Part): boolean {
  return from === 0 && most >= MOST_EVENTS;
}

/** Whether the mapping reads the title, the severity, the id or the type below a member of this name. */
export function readsIn(mapping: Mapping, name: string): boolean {
  const { title, severity, event_id, type } = mapping;
  const places = [title, severity, event_id, type].flatMap((pointers) => waysOf(pointers).flat());
  return places.some(({ fromBody, steps }) => !fromBody && steps.slice(0, -1).includes(name));
}

/** Whether the list of events exists, and no list of the body has an item. */
export function isEmptyByMapping(mapping: Mapping, body: Json): boolean {
  const bodies = isList(body) ? body.filter(saysSomething) : [body];
  return bodies.every((one) => leadsToList(mapping, one)) && listsIn(body).every(isHollow);
}

function leadsToList({ items }: Mapping, body: Json): boolean {
  return waysOf(items).some(([place]) => place && isList(resolve(body, place.steps)));
}

/** An item that has lists, such as a page of results, counts by its lists. */
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

/**
 * Reads a part of the events of a body. Returns `undefined` if the body does not fit: it has no events, or none of them has a title, a
 * severity, an id or a type at the places of the mapping.
 */
export function readFound(
  mapping: Mapping,
  found: readonly Found[],
  part: Part = FIRST_PART,
): Alert[] | undefined {
  const events = found.slice(part.from, part.from + part.most);
  const alerts = events.map(alertReader(mapping, events.length));
  return !isFirst(part) || alerts.some(tellsSomething) ? alerts : undefined;
}

export function readByMapping(
  mapping: Mapping,
  body: Json,
  part: Part = FIRST_PART,
): Alert[] | undefined {
  return readFound(mapping, atOnce(eventsOf(mapping, body)), part);
}

/** An event, and the body where `^` starts. */
export interface Found {
  readonly event: Json;
  readonly body: Json;
}

/** Number of items after which the search for events yields. */
const ITEMS_PER_TURN = 200;

/** Finds the events. Each item of a list is a body, unless the mapping reads the list as a whole. */
export function* eventsOf(mapping: Mapping, body: Json): Generator<void, readonly Found[]> {
  const items = mapping.items === undefined ? undefined : waysOf(mapping.items);
  const whole = yield* eventsIn(items, body);
  if (!isList(body)) return whole;
  yield;
  const read = alertReader(mapping, 1);
  for (const [at, found] of whole.entries()) {
    if (tellsSomething(read(found))) return whole;
    if (at % ITEMS_PER_TURN === 0) yield;
  }
  const all: Found[] = [];
  for (const [at, member] of body.entries()) {
    if (at % ITEMS_PER_TURN === 0) yield;
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
    for (const [at, event] of value.entries()) {
      if (at % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) yield;
      if (saysSomething(event)) members.push({ event, body });
    }
  }
  if (members.length > 0) return members;
  return first === undefined ? [] : [{ event: first, body }];
}

const LONGEST_LIFTED = 2_000;
const ALL_LIFTED = 4 * 1024 * 1024;

function alertReader(mapping: Mapping, events: number): (found: Found) => Alert {
  const [title, severity, eventId, type] = [
    waysOf(mapping.title),
    waysOf(mapping.severity),
    waysOf(mapping.event_id),
    waysOf(mapping.type),
  ];
  const lifts = new Map(
    Object.entries(mapping.lift ?? {}).map(([key, at]) => [key, waysOf(at)] as const),
  );
  // A mail has several recipients, each with a copy in the mailbox.
  const recipientWays = lifts.get('recipient');
  // All events of a body share the bound.
  const longest = Math.min(
    LONGEST_LIFTED,
    Math.floor(ALL_LIFTED / Math.max(1, events * lifts.size)),
  );

  return ({ event, body }) => {
    const found = new Finder(body);
    const said = found.words(event, severity)?.[0];
    const id = found.words(event, eventId);
    const values = [...lifts].flatMap(([key, ways]) => {
      const value = found.scalar(
        event,
        ways,
        (one) => fieldValue(key, textOf(one) ?? one) !== undefined,
      );
      return value === undefined ? [] : [[key, lifted(value, longest)] as const];
    });
    const recipients = recipientWays && addressList(found.list(event, recipientWays));
    if (recipients !== undefined && !lifts.has('recipients')) {
      values.push(['recipients', lifted(recipients, longest)]);
    }
    // A joined id is JSON, which people do not read.
    if (id && id.length > 1 && !lifts.has('event_id')) {
      values.push(['event_id', lifted(id.join(' '), longest)]);
    }
    const subject = values.find(([key]) => key === 'subject')?.[1];
    const words = found.allWords(event, type);
    return {
      event,
      usualType: 'other',
      title: titleOf(found.texts(event, title), subject),
      // As JSON, so that "a b" with "c" differs from "a" with "b c".
      eventId: id && (id.length === 1 ? id[0] : JSON.stringify(id)),
      words: words.length > 0 ? words : undefined,
      severity: said === undefined ? undefined : { said },
      lift: values.length > 0 ? Object.fromEntries(values) : undefined,
    };
  };
}

/** Quotes the subject, because the sender of the mail wrote it and could imitate text of the tool. */
function titleOf(texts: readonly string[] | undefined, subject?: Scalar): string | undefined {
  return texts?.map((text) => (text === subject ? inQuotes(text) : text)).join(' - ');
}

function tellsSomething({ title, severity, eventId, words }: Alert): boolean {
  return [title, severity, eventId, words].some((part) => part !== undefined);
}
