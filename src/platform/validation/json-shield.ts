import { getMetadataStorage } from 'class-validator';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { MOST_ERRORS } from '../errors/app-error.js';
import { shownName } from '../text.js';

/*
 * class-transformer copies a body into instances of its class, and copies whatever is inside. For JSON of any content that
 * costs more than all the rest, loses keys such as `toString`, and fails on a key `constructor`. Each unknown field and
 * each item of a list costs it and class-validator so much that a body of nothing else held the service for seconds.
 * So neither of them sees such values: a token stands for each, and is exchanged for the value afterwards.
 */

/** Marks, as the @Type of a field, JSON of any content. */
export class AnyJson {}

type Json = Record<string, unknown>;
type Target = new () => object;

const originals = new WeakMap<symbol, unknown>();

function tokenFor(value: unknown): symbol {
  const token = Symbol('shielded');
  originals.set(token, value);
  return token;
}

/** The value that was sent, for its token; anything else as it is. */
export function unshielded(value: unknown): unknown {
  return typeof value === 'symbol' && originals.has(value) ? originals.get(value) : value;
}

export interface ShieldedJson {
  readonly value: unknown;
  /** Dotted paths of the fields that the class does not have. */
  readonly unknownFields: readonly string[];
}

/** No list of a known shape may be as long; what is longer is refused for its length, whatever else is in it. */
export const LONGEST_LIST = 1_000;

/** A copy of the body without its unknown fields, with no list much longer than any may be, and with tokens. */
export function shieldJson(value: unknown, target: Target): ShieldedJson {
  const unknownFields: string[] = [];
  return { value: shieldFields(value, target, '', unknownFields), unknownFields };
}

function shieldFields(value: unknown, target: Target, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    const items = value.slice(0, LONGEST_LIST + 1) as unknown[];
    return items.map((item, index) => shieldFields(item, target, `${path}${index}.`, unknown));
  }
  if (typeof value !== 'object' || value === null) return value;
  const known = knownFields(target);
  if (known.size === 0) return value;
  const result: Json = {};
  // Not Object.entries, which takes three times as long for an object of many keys.
  for (const key of Object.keys(value)) {
    if (known.has(key)) result[key] = shieldField(key, (value as Json)[key], target, path, unknown);
    else if (unknown.length < MOST_ERRORS) unknown.push(path + shownName(key));
  }
  return result;
}

function shieldField(
  key: string,
  value: unknown,
  target: Target,
  path: string,
  unknown: string[],
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const type = typeOf(target, key);
  if (type === AnyJson) return tokenFor(value);
  if (type) return shieldFields(value, type, `${path}${key}.`, unknown);
  // The field takes something simple, or a list of that: the validator refuses a token.
  return Array.isArray(value) ? value.slice(0, LONGEST_LIST + 1).map(shieldItem) : tokenFor(value);
}

function shieldItem(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? tokenFor(value) : value;
}

const fieldsOf = new WeakMap<Target, ReadonlySet<string>>();

/** The fields that a class declares: those for which it has rules, as class-validator's whitelist sees it. */
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
