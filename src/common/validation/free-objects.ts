import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';

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
  /** Dotted paths of fields of known shapes that nobody declared and class-transformer would drop without a word. */
  readonly dropped: readonly string[];
}

/** What every object has, such as `constructor`: class-transformer leaves it out. */
const isInherited = (name: string): boolean => name in Object.prototype;

/**
 * The same body with a token in place of each free object. class-transformer would copy what is inside, which costs more
 * than all the rest, loses keys such as `toString`, and fails on a key `constructor`.
 */
export function withFreeObjectsHeld(value: unknown, target: Target): Held {
  const dropped: string[] = [];
  return { value: heldShape(value, target, '', dropped), dropped };
}

function heldShape(value: unknown, target: Target, path: string, dropped: string[]): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => heldShape(item, target, `${path}${index}.`, dropped));
  }
  if (typeof value !== 'object' || value === null) return value;
  const result: Json = {};
  for (const [key, item] of Object.entries(value)) {
    if (isInherited(key)) dropped.push(`${path}${key}`);
    else result[key] = heldField(key, item, target, path, dropped);
  }
  return result;
}

function heldField(
  key: string,
  value: unknown,
  target: Target,
  path: string,
  dropped: string[],
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const type = typeOf(target, key);
  if (type === FreeObject) return hold(value);
  if (type) return heldShape(value, type, `${path}${key}.`, dropped);
  // A field that nobody declared, or a list of something simple: its validator refuses the token.
  return hasConstructorKey(value) ? hold(value) : value;
}

function typeOf(target: Target, key: string): Target | undefined {
  const metadata = defaultMetadataStorage.findTypeMetadata(target, key) as
    { typeFunction(): unknown } | undefined;
  return metadata?.typeFunction() as Target | undefined;
}

function hasConstructorKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, 'constructor')) return true;
  return Object.values(value).some(hasConstructorKey);
}
