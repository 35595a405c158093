import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { MOST_ERRORS } from '../errors/app-error.js';
import { shownName } from '../text.js';

/*
 * class-transformer copies a body into instances of its class, with everything inside. For free-form JSON that costs
 * more than all the rest, loses keys such as `toString`, and fails on a key `constructor`. Unknown fields and list
 * items are so expensive for it and for class-validator that a body full of them could block the service for seconds.
 * So neither library sees such values: a token replaces each, and is exchanged for the value afterwards.
 */

/** As the @Type of a field, marks free-form JSON. */
export class AnyJson {}

type Json = Record<string, unknown>;
type Target = new () => object;

/** Marks the schema of a class that reads null as absent. */
export const NULL_IS_ABSENT_EXTENSION = 'x-null-is-absent';

const NULL_IS_ABSENT = Symbol('null is absent');

/**
 * Reads null in a field of the class as an absent field. Java clients of OpenAPI Generator send an empty list for an
 * unset list, unless the contract allows null.
 */
export const NullIsAbsent = (): ClassDecorator =>
  applyDecorators(
    (target: object) => Reflect.defineMetadata(NULL_IS_ABSENT, true, target),
    ApiExtension(NULL_IS_ABSENT_EXTENSION, true),
  );

export const readsNullAsAbsent = (target: Target): boolean =>
  Reflect.hasMetadata(NULL_IS_ABSENT, target);

const originals = new WeakMap<symbol, unknown>();

function tokenFor(value: unknown): symbol {
  const token = Symbol('shielded');
  originals.set(token, value);
  return token;
}

/** Returns the original value of a token, or the value itself. */
export function unshielded(value: unknown): unknown {
  return typeof value === 'symbol' && originals.has(value) ? originals.get(value) : value;
}

interface ShieldedJson {
  readonly value: unknown;
  /** Dotted paths of the unknown fields. */
  readonly unknownFields: readonly string[];
}

/** Maximum length of a list with a known shape. A longer list is rejected for its length only. */
export const LONGEST_LIST = 1_000;

/** Copies the body without unknown fields, with truncated lists, and with tokens. */
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
  const leavesOutNull = readsNullAsAbsent(target);
  // Object.entries takes three times as long for an object with many keys.
  for (const key of Object.keys(value)) {
    const field = (value as Json)[key];
    if (!known.has(key)) {
      if (unknown.length < MOST_ERRORS) unknown.push(path + shownName(key));
    } else if (field !== null || !leavesOutNull) {
      result[key] = shieldField(key, field, target, path, unknown);
    }
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
  // The field is a scalar or a list of scalars: the validator rejects a token.
  return Array.isArray(value) ? value.slice(0, LONGEST_LIST + 1).map(shieldItem) : tokenFor(value);
}

function shieldItem(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? tokenFor(value) : value;
}

const fieldsOf = new WeakMap<Target, ReadonlySet<string>>();

/** The fields with rules, like the whitelist of class-validator. */
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
