import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { withPartsInPlace } from '../../scripts/contract/document.js';

export interface DocumentedResponse {
  readonly content?: Readonly<Record<string, { readonly schema: OpenApiSchema }>>;
  readonly headers?: Readonly<
    Record<string, { readonly required?: boolean; readonly schema: OpenApiSchema }>
  >;
}

export interface DocumentedOperation {
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface ContractDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

const PATH = resolve(__dirname, '../../openapi/openapi.json');
let contract: ContractDocument | undefined;

/** Responses are compared with the committed document, which clients have, and not with the code. */
export function readContract(): ContractDocument {
  return (contract ??= withPartsInPlace(JSON.parse(readFileSync(PATH, 'utf8'))));
}

export interface DocumentedPath {
  readonly template: string;
  readonly operations: Readonly<Record<string, DocumentedOperation>>;
}

/** Finds the path template for an address. A fixed segment takes precedence over a parameter, as in the router. */
export class DocumentedPaths {
  private readonly byTemplate: readonly (DocumentedPath & { readonly pattern: RegExp })[];

  constructor({ paths }: ContractDocument) {
    this.byTemplate = Object.entries(paths)
      .map(([template, operations]) => ({ template, operations, pattern: patternOf(template) }))
      .sort((a, b) => (rank(a.template) < rank(b.template) ? -1 : 1));
  }

  find(path: string): DocumentedPath | undefined {
    return this.byTemplate.find(({ pattern }) => pattern.test(path));
  }
}

function patternOf(template: string): RegExp {
  const source = template
    .split('/')
    .map((segment) => segment.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]+'))
    .join('/');
  return new RegExp(`^${source}$`);
}

/** Returns a sort key with which `{parameter}` comes after every fixed segment. */
function rank(template: string): string {
  return template.replaceAll('{', '\uffff');
}

/** Schema object of OpenAPI 3.0, with the parts that differ from JSON Schema or are needed here. */
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly additionalProperties?: boolean | OpenApiSchema;
  readonly items?: OpenApiSchema;
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly anyOf?: readonly OpenApiSchema[];
  readonly not?: OpenApiSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean | number;
  readonly exclusiveMaximum?: boolean | number;
}

export type JsonSchema = Record<string, unknown>;

const COMPONENT = '#/components/schemas/';
export const SCHEMAS_ID = 'contract';

/**
 * Compiles every component in two forms: a strict form that rejects undeclared fields, and a `loose` form for a part of
 * an `allOf`.
 */
export function componentSchemas(components: Readonly<Record<string, OpenApiSchema>>): JsonSchema {
  const definitions = Object.entries(components).flatMap(([name, schema]) => [
    [name, toJsonSchema(schema)],
    [`${name}~loose`, toJsonSchema(schema, true)],
  ]);
  return { $id: SCHEMAS_ID, $defs: Object.fromEntries(definitions) as JsonSchema };
}

/** Converts the schema to JSON Schema 2019-09. The strict form refuses undeclared fields. */
export function toJsonSchema(schema: OpenApiSchema, loose = false): JsonSchema {
  if (schema.$ref !== undefined) return { $ref: reference(schema.$ref, loose) };
  const result: JsonSchema = {
    ...schema,
    ...(schema.properties && { properties: each(schema.properties) }),
    ...(schema.items && { items: toJsonSchema(schema.items) }),
    ...(schema.not && { not: toJsonSchema(schema.not, true) }),
    ...(schema.allOf && { allOf: schema.allOf.map((part) => toJsonSchema(part, true)) }),
    ...(schema.oneOf && { oneOf: schema.oneOf.map((part) => toJsonSchema(part, loose)) }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map((part) => toJsonSchema(part, loose)) }),
    ...(typeof schema.additionalProperties === 'object' && {
      additionalProperties: toJsonSchema(schema.additionalProperties),
    }),
    ...bounds(schema),
  };
  const declares = schema.properties !== undefined || schema.allOf !== undefined;
  if (declares && schema.additionalProperties === undefined && !loose) {
    result['unevaluatedProperties'] = false;
  }
  // Such a schema permits any JSON.
  if (isAnything(schema)) result['additionalProperties'] = true;
  if (loose && schema.additionalProperties === false) delete result['additionalProperties'];
  delete result['nullable'];
  return schema.nullable ? { anyOf: [{ type: 'null' }, result] } : result;
}

const SAYS_NOTHING = new Set(['description', 'example', 'title']);

const isAnything = (schema: OpenApiSchema): boolean =>
  Object.keys(schema).every((key) => SAYS_NOTHING.has(key));

function reference(ref: string, loose: boolean): string {
  if (!ref.startsWith(COMPONENT)) throw new Error(`${ref} is not a component schema.`);
  return `${SCHEMAS_ID}#/$defs/${ref.slice(COMPONENT.length)}${loose ? '~0loose' : ''}`;
}

function each(properties: Readonly<Record<string, OpenApiSchema>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, toJsonSchema(schema)]),
  );
}

/** In OpenAPI 3.0 an exclusive bound is a flag next to the bound. */
function bounds(schema: OpenApiSchema): JsonSchema {
  const result: JsonSchema = {};
  if (typeof schema.exclusiveMinimum === 'boolean') {
    result['exclusiveMinimum'] = schema.exclusiveMinimum ? schema.minimum : undefined;
  }
  if (typeof schema.exclusiveMaximum === 'boolean') {
    result['exclusiveMaximum'] = schema.exclusiveMaximum ? schema.maximum : undefined;
  }
  return result;
}
