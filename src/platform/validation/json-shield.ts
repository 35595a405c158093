import { ApiExtension } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import { MOST_ERRORS } from '../errors/app-error.js';
import { shownName } from '../text.js';
import { nestedClass } from './present.js';

/*
 * class-transformer copies a body into instances of its class, with everything inside. For free-form JSON that costs
 * more than all the rest, loses keys such as `toString`, and fails on a key `constructor`. Unknown fields and list
 * items are so expensive for it and for class-validator that a body full of them could block the service for seconds.
 * So neither library sees such values: a token replaces each, and is exchanged for the value afterwards.
 */

type Json = Record<string, unknown>;
type Target = new () => object;

/** Marks a class that reads null as absent, also in its schema. */
export const NULL_IS_ABSENT_EXTENSION = 'x-null-is-absent';

/**
 * Reads null in a field of the class as an absent field. Java clients of OpenAPI Generator send an empty list for an
 * unset list, unless the contract allows null.
 */
export const NullIsAbsent = (): ClassDecorator => ApiExtension(NULL_IS_ABSENT_EXTENSION, true);

export function readsNullAsAbsent(target: Target): boolean {
  const extensions = Reflect.getMetadata('swagger/apiExtension', target) as object | undefined;
  return extensions !== undefined && NULL_IS_ABSENT_EXTENSION in extensions;
}

const originals = new WeakMap<symbol, unknown>();

function shielded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const token = Symbol('shielded');
  originals.set(token, value);
  return token;
}

/** Returns the original value of a token, or the value itself. */
export function unshielded(value: unknown): unknown {
  return typeof value === 'symbol' ? originals.get(value) : value;
}

/** Maximum length of a list with a known shape. A longer list is rejected for its length only. */
export const LONGEST_LIST = 1_000;

/**
 * Copies the body without unknown fields, with truncated lists, and with tokens.
 * @param unknown receives the dotted paths of the unknown fields
 */
export function shieldJson(value: unknown, target: Target, unknown: string[], path = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.slice(0, LONGEST_LIST + 1) as unknown[];
    return items.map((item, index) => shieldJson(item, target, unknown, `${path}${index}.`));
  }
  if (typeof value !== 'object' || value === null) return value;
  const storage = getMetadataStorage();
  // The fields with rules, like the whitelist of class-validator. The pipe caches both look-ups.
  const rules = storage.getTargetValidationMetadatas(target, '', false, false);
  if (rules.length === 0) return value;
  const known = storage.groupByPropertyName(rules);
  const result: Json = {};
  const leavesOutNull = readsNullAsAbsent(target);
  // Object.entries takes three times as long for an object with many keys.
  for (const key of Object.keys(value)) {
    const field = (value as Json)[key];
    if (!Object.hasOwn(known, key)) {
      if (unknown.length < MOST_ERRORS) unknown.push(path + shownName(key));
    } else if (typeof field !== 'object') {
      result[key] = field;
    } else if (field !== null || !leavesOutNull) {
      const nested = nestedClass(target, key);
      if (nested) result[key] = shieldJson(field, nested, unknown, `${path}${key}.`);
      // The validator rejects a token where free-form JSON is not allowed.
      else if (!Array.isArray(field)) result[key] = shielded(field);
      else result[key] = field.slice(0, LONGEST_LIST + 1).map(shielded);
    }
  }
  return result;
}
