import { getMetadataStorage } from 'class-validator';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { MOST_ERRORS } from '../errors/app-error.js';
import { shownName } from '../text.js';

/** Marks, as the @Type of a field, JSON of any content. */
export class FreeObject {}

type Json = Record<string, unknown>;
type Target = new () => object;

const held = new WeakMap<symbol, unknown>();

function hold(value: unknown): symbol {
  const token = Symbol('held');
  held.set(token, value);
  return token;
}

/** What was sent, for a token; anything else as it is. */
export function released(value: unknown): unknown {
  return typeof value === 'symbol' && held.has(value) ? held.get(value) : value;
}

export interface Held {
  readonly value: unknown;
  /** Dotted paths of fields that their shape does not have. */
  readonly unknown: readonly string[];
}

/** No list of a known shape takes as many; what is longer is refused for its length, whatever else is in it. */
export const LONGEST_LIST = 1_000;

/**
 * The same body without the fields that nobody declared, and with a token in place of each free object. class-transformer
 * would copy what is inside, which costs more than all the rest, loses keys such as `toString`, and fails on a key
 * `constructor`; and each unknown field and item would cost it and class-validator so much that a body of nothing else
 * held the service for seconds.
 */
export function shieldJson(value: unknown, target: Target): Held {
  const unknown: string[] = [];
  return { value: heldShape(value, target, '', unknown), unknown };
}

function heldShape(value: unknown, target: Target, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    const items = value.slice(0, LONGEST_LIST + 1) as unknown[];
    return items.map((item, index) => heldShape(item, target, `${path}${index}.`, unknown));
  }
  if (typeof value !== 'object' || value === null) return value;
  const known = knownFields(target);
  if (known.size === 0) return value;
  const result: Json = {};
  // Not Object.entries, which takes three times as long for an object of many keys.
  for (const key of Object.keys(value)) {
    if (known.has(key)) result[key] = heldField(key, (value as Json)[key], target, path, unknown);
    else if (unknown.length < MOST_ERRORS) unknown.push(path + shownName(key));
  }
  return result;
}

function heldField(
  key: string,
  value: unknown,
  target: Target,
  path: string,
  unknown: string[],
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const type = typeOf(target, key);
  if (type === FreeObject) return hold(value);
  if (type) return heldShape(value, type, `${path}${key}.`, unknown);
  return Array.isArray(value) ? value.slice(0, LONGEST_LIST + 1).map(heldItem) : hold(value);
}

/** Where something simple belongs, or a list of that: the validator refuses the token. */
function heldItem(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? hold(value) : value;
}

const fieldsOf = new WeakMap<Target, ReadonlySet<string>>();

/** The fields that a class declares: those that it validates, as whitelisting has it. */
function knownFields(target: Target): ReadonlySet<string> {
  let fields = fieldsOf.get(target);
  if (!fields) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
    fields = new Set(rules.map(({ propertyName }) => propertyName));
    fieldsOf.set(target, fields);
  }
  return fields;
}

function typeOf(target: Target, key: string): Target | undefined {
  const metadata = defaultMetadataStorage.findTypeMetadata(target, key) as
    { typeFunction(): unknown } | undefined;
  return metadata?.typeFunction() as Target | undefined;
}
