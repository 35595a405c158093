/** Parts of an OpenAPI 3.0 document that a comparison needs. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: boolean | Schema;
  readonly [keyword: string]: unknown;
}

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options']);

export function operationsOf(document: OpenApiDocument): PlacedOperation[] {
  return Object.entries(withPartsInPlace(document).paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

const PART = /^#\/components\/(examples|headers|parameters|responses)\/(.+)$/;

/** Replaces references to examples, headers, parameters and responses by their content. Schemas stay shared. */
export function withPartsInPlace<T extends object>(document: T): T {
  const { components = {} } = document as { components?: Record<string, Record<string, unknown>> };
  const placed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(placed);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref } = value as { $ref?: unknown };
    const [, kind, name] = (typeof $ref === 'string' && PART.exec($ref)) || [];
    if (kind && name) return placed(components[kind]?.[name]);
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, placed(child)]));
  };
  return placed(document) as T;
}

const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

/** Returns the names of all schemas that a value refers to, at any depth. */
export function reachable(value: unknown, document: OpenApiDocument): Set<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name] of (JSON.stringify(part) ?? '').matchAll(REFERENCE)) {
      if (!name || found.has(name)) continue;
      found.add(name);
      visit(document.components?.schemas?.[name]);
    }
  };
  visit(value);
  return found;
}
