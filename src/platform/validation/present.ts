import 'reflect-metadata';

type Class<T extends object> = new () => T;

/** A row that has the fields of a DTO. Optional fields may be null, as in a table. */
export type RowOf<Dto> = {
  readonly [Name in keyof Dto]: undefined extends Dto[Name]
    ? ValueOf<Dto[Name]> | null
    : ValueOf<Dto[Name]>;
};
type ValueOf<T> = T extends Date | string | number | boolean | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly ValueOf<Item>[]
    : T extends object
      ? RowOf<T>
      : T;

interface Property {
  readonly name: string;
  readonly nested?: (value: object) => object;
}

/**
 * Returns a function that copies the fields that a DTO declares from a row, in the order of their declaration. Other
 * fields of the row are left out, and so are fields that are null. Times become text, because JSON.stringify takes
 * twice as long for a Date.
 */
export function present<Dto extends object>(type: Class<Dto>): (row: RowOf<Dto>) => Dto {
  return (row) => {
    let properties = known.get(type);
    if (!properties) known.set(type, (properties = propertiesOf(type)));
    const shown: Record<string, unknown> = {};
    for (const { name, nested } of properties) {
      const value = (row as Record<string, unknown>)[name];
      if (value === null || value === undefined) continue;
      shown[name] = nested ? presentNested(value, nested) : textOfTime(value);
    }
    return shown as Dto;
  };
}

function textOfTime(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

function presentNested(value: object, nested: (value: object) => object): object {
  return Array.isArray(value) ? value.map((item) => nested(item as object)) : nested(value);
}

/** Reading the metadata of a class costs more than the copy of a row. */
const known = new WeakMap<Class<object>, readonly Property[]>();

/** Reads the metadata that the decorators of fields.ts leave for the OpenAPI document. */
function propertiesOf({ name: dto, prototype }: Class<object>): Property[] {
  const names = (Reflect.getMetadata('swagger/apiModelPropertiesArray', prototype as object) ??
    []) as string[];
  if (names.length === 0) throw new Error(`${dto} declares no fields.`);
  return names.map((entry) => {
    const name = entry.slice(1);
    const { type } = Reflect.getMetadata(
      'swagger/apiModelProperties',
      prototype as object,
      name,
    ) as { readonly type?: unknown };
    return { name, nested: nestedIn(type) };
  });
}

/** Nested and NestedList give a function that returns a class; other fields give the name of a type, or a class. */
function nestedIn(type: unknown): ((value: object) => object) | undefined {
  if (typeof type !== 'function' || type.name !== 'type') return undefined;
  return present<object>((type as () => Class<object>)());
}
