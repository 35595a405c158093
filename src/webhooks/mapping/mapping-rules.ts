import type { FieldError } from '../../platform/errors/app-error.js';
import { inQuotes } from '../../incidents/title-facts.js';
import { fieldValue } from '../../incidents/incident-fields.js';
import { shownName } from '../../platform/text.js';
import type { Alert } from '../reading/alert.js';
import { isList, isObject, type Json, textOf } from '../reading/json.js';
import { resolve } from './json-pointer.js';
import type { Mapping } from './mapping.js';
import { Finder, lifted, longestLifted, placeOf, type Scalar, waysOf } from './places.js';

const MOST_POINTERS = 10;
const LONGEST_POINTER = 512;
const MOST_LIFTED = 32;
const LIFT_KEY = /^[a-z][a-z0-9_]{0,63}$/;

/** Whether pointers of this field may be joined. */
const FIELDS = new Map([
  ['items', false],
  ['title', true],
  ['severity', false],
  ['event_id', true],
  ['type', false],
]);

/** Without one of them there is nothing by which a body could be told to be an event. */
const TELLING = ['title', 'severity', 'event_id', 'type'];

/** What is wrong with a mapping that an administrator gives; nothing when it is right. `field` is where it stands in the request. */
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

/** Events that are read and settled together. A body with more is settled in parts. */
export const MOST_EVENTS = 1_000;

/** Which events of a body to read. */
export interface Part {
  readonly from: number;
  /** At most MOST_EVENTS. */
  readonly most: number;
}

export const FIRST_PART: Part = { from: 0, most: MOST_EVENTS };

/** The number of events in a body. */
export function countByMapping(mapping: Mapping, body: Json): number {
  return eventsOf(mapping, body).length;
}

/**
 * A part of the events of a body, as the mapping finds them. Undefined when it does not fit: when it has no events, or when none of
 * them has a title, a severity, an id or a type where the mapping looks for it. The first part tells that for all.
 */
export function readByMapping(
  mapping: Mapping,
  body: Json,
  { from, most }: Part = FIRST_PART,
): Alert[] | undefined {
  const events = eventsOf(mapping, body).slice(from, from + most);
  const read = alertReader(mapping, body, events.length);
  const alerts = events.map(read);
  const isRest = from > 0 || most < MOST_EVENTS;
  return isRest || alerts.some(tellsSomething) ? alerts : undefined;
}

function eventsOf({ items }: Mapping, body: Json): readonly Json[] {
  if (items === undefined) return [body];
  const found = waysOf(items).flatMap(([place]) => {
    const value = place && resolve(body, place.steps);
    return value === undefined ? [] : [{ value }];
  });
  const members = found.flatMap(({ value }) => (isList(value) ? value : [])).filter(saysSomething);
  if (members.length > 0) return members;
  return found.flatMap(({ value }) => (isObject(value) ? [value] : [])).slice(0, 1);
}

/** A list of events may have gaps. */
function saysSomething(member: Json): boolean {
  return typeof member !== 'object' || (member !== null && Object.keys(member).length > 0);
}

function alertReader(mapping: Mapping, body: Json, events: number): (event: Json) => Alert {
  const finder = new Finder(body);
  const [title, severity, eventId, type] = [
    waysOf(mapping.title),
    waysOf(mapping.severity),
    waysOf(mapping.event_id),
    waysOf(mapping.type),
  ];
  const lift = Object.entries(mapping.lift ?? {}).map(([key, at]) => [key, waysOf(at)] as const);
  const longest = longestLifted(events, lift.length);

  return (event) => {
    const said = finder.words(event, severity)?.[0];
    const id = finder.words(event, eventId);
    const values = lift.flatMap(([key, ways]) => {
      const value = finder.scalar(
        event,
        ways,
        (found) => fieldValue(key, textOf(found) ?? found) !== undefined,
      );
      return value === undefined ? [] : [[key, lifted(value, longest)] as const];
    });
    const subject = values.find(([key]) => key === 'subject')?.[1];
    return {
      event,
      usualType: 'other',
      ...given('title', titleOf(finder.texts(event, title), subject)),
      ...given('eventId', id && idOf(id)),
      ...given('words', nonEmpty(finder.allWords(event, type))),
      ...given('severity', said === undefined ? undefined : { said }),
      ...given('lift', values.length > 0 ? Object.fromEntries(values) : undefined),
    };
  };
}

/** A subject is put in quotes: who wrote the mail chose its words, and they cannot pose as those of the tool. */
function titleOf(texts: readonly string[] | undefined, subject?: Scalar): string | undefined {
  return texts?.map((text) => (text === subject ? inQuotes(text) : text)).join(' - ');
}

/** As JSON, so that "a b" with "c" is another id than "a" with "b c". */
function idOf(texts: readonly string[]): string {
  return texts.length === 1 ? texts[0]! : JSON.stringify(texts);
}

function nonEmpty(words: readonly string[]): readonly string[] | undefined {
  return words.length > 0 ? words : undefined;
}

/** What is absent is left out, and not undefined. */
function given<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]: V });
}

function tellsSomething({ title, severity, eventId, words }: Alert): boolean {
  return [title, severity, eventId, words].some((part) => part !== undefined);
}
