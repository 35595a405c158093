import 'reflect-metadata';

type Class<T extends object = object> = new () => T;

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

/** Copies the declared fields except null, in their order. Times become text: JSON.stringify is slow for a Date. */
export function present<Dto extends object>(type: Class<Dto>): (row: RowOf<Dto>) => Dto {
  return (row) => {
    let fields = known.get(type);
    if (!fields) known.set(type, (fields = fieldsOf(type)));
    const shown: Record<string, unknown> = {};
    for (const [name, nested] of fields) {
      const value = (row as Record<string, unknown>)[name];
      if (value === null || value === undefined) continue;
      if (!nested) shown[name] = value instanceof Date ? value.toISOString() : value;
      else if (!Array.isArray(value)) shown[name] = nested(value);
      else shown[name] = value.map((item: object) => nested(item));
    }
    return shown as Dto;
  };
}

type Field = readonly [name: string, nested: ((value: object) => object) | undefined];

/** Caches the fields, because reading the metadata of a class costs more than copying a row. */
const known = new WeakMap<Class, readonly Field[]>();

/** Reads the metadata that the decorators of fields.ts write for the OpenAPI document. */
function fieldsOf(type: Class): Field[] {
  const prototype = type.prototype as object;
  const names = Reflect.getMetadata('swagger/apiModelPropertiesArray', prototype) as
    string[] | undefined;
  if (!names) throw new Error(`${type.name} declares no fields.`);
  return names.map((entry) => {
    const name = entry.slice(1);
    const nested = nestedClass(type, name);
    return [name, nested && present<object>(nested)];
  });
}

/** Returns the class of a Nested or NestedList field. These decorators store a function that returns the class. */
export function nestedClass({ prototype }: Class, name: string): Class | undefined {
  const field = Reflect.getMetadata('swagger/apiModelProperties', prototype as object, name) as
    { readonly type?: unknown } | undefined;
  const isLazy = typeof field?.type === 'function' && field.type.name === 'type';
  return isLazy ? (field.type as () => Class)() : undefined;
}
