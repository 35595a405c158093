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

/**
 * The same body with a token in place of each free object. class-transformer would copy what is inside, which costs more
 * than all the rest, loses keys such as `toString`, and fails on a key `constructor`.
 */
export function withFreeObjectsHeld(value: unknown, target: Target): unknown {
  if (Array.isArray(value)) return value.map((item) => withFreeObjectsHeld(item, target));
  if (typeof value !== 'object' || value === null) return value;
  const result: Json = {};
  for (const [key, item] of Object.entries(value)) result[key] = heldField(key, item, target);
  return result;
}

function heldField(key: string, value: unknown, target: Target): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const type = typeOf(target, key);
  if (type === FreeObject) return hold(value);
  if (type) return withFreeObjectsHeld(value, type);
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
