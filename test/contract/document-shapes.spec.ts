import { readFileSync } from 'node:fs';
import {
  type OpenApiDocument,
  operationsOf,
  reachable,
  type Schema,
} from '../../scripts/contract/document.js';
import { ACTION_TYPES } from '../../src/action-catalogue/action-types.js';
import { pascal } from '../../src/platform/openapi/answers.js';

/*
 * Rules for the parts of which generators make types, functions and constants. Each rule exists because a generator of
 * openapi/clients failed or produced unusable code.
 */

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as OpenApiDocument;
const schemas = document.components!.schemas!;
const names = Object.keys(schemas);
const operations = operationsOf(document);
type Responses = (typeof operations)[number]['operation']['responses'];

/** Schemas of JSON responses with a status of this range. */
const answersIn = (responses: Responses, from: number, to: number): readonly Schema[] =>
  Object.entries(responses)
    .filter(([status]) => Number(status) >= from && Number(status) < to)
    .map(([, { content }]) => content?.['application/json']?.schema)
    .filter((schema) => schema !== undefined);

/** Bodies that no schema of this service describes: documents of other services, and events of tools. */
const ANY_BODY = new Set([
  'getOpenApiJson',
  'getOpenApiYaml',
  'receiveWebhook',
  'previewWebhookEvent',
]);

/** Values that contain no schema. */
const VALUES = new Set(['example', 'examples', 'default', 'enum']);

function visit(
  value: unknown,
  place: readonly string[],
  found: (schema: Schema, place: readonly string[]) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  // The fields of an object are not a schema, even if a field has the name `enum`.
  if (place.at(-1) !== 'properties' && !Array.isArray(value)) found(value as Schema, place);
  for (const [key, child] of Object.entries(value)) {
    if (!VALUES.has(key) || place.at(-1) === 'properties') visit(child, [...place, key], found);
  }
}

/** Returns every schema of the document, at any depth. */
function schemasIn(document: OpenApiDocument): Schema[] {
  const schemas: Schema[] = [];
  visit(document, [], (schema) => schemas.push(schema));
  return schemas;
}

/** Finds unnamed schemas that break the rule. */
function placesIn(document: OpenApiDocument, isMeant: (schema: Schema) => boolean): string[] {
  const places: string[] = [];
  visit(document, [], (schema, place) => {
    const isNamed = place.length === 3 && place[1] === 'schemas';
    if (!isNamed && isMeant(schema)) places.push(place.join('/'));
  });
  return places;
}

/** Returns the names that generators give to the types of an operation, in lower case. */
function operationNames(operationId: string): string[] {
  const ends = [
    'Request',
    'Response',
    'Responses',
    'Error',
    'Errors',
    'Data',
    'Params',
    'JSONRequestBody',
  ];
  return ends.map((end) => `${operationId}${end}`.toLowerCase());
}

describe('the OpenAPI contract', () => {
  it('gives a name to the schema of every JSON body', () => {
    const unnamed = operations
      .filter(({ operation }) => !ANY_BODY.has(operation.operationId))
      .filter(({ operation: { requestBody, responses } }) => {
        const body = requestBody?.content['application/json']?.schema;
        return [...(body ? [body] : []), ...answersIn(responses, 200, 600)].some(
          ({ $ref }) => !$ref,
        );
      });
    expect(unnamed.map(({ operation }) => operation.operationId)).toEqual([]);
  });

  it('gives a name to every object with fields, every union and every enum', () => {
    const unnamed = placesIn(document, (schema) => {
      const isSet = (schema.enum?.length ?? 0) > 1;
      const { oneOf, anyOf } = schema;
      // A union of scalars needs no name.
      const isUnion = [...(oneOf ?? []), ...(anyOf ?? [])].some(({ $ref }) => $ref);
      return Boolean(schema.properties ?? (isUnion || isSet));
    });
    expect(unnamed).toEqual([]);
  });

  it('gives each operation one success type, one error type and one media type for its request body', () => {
    const several = operations.filter(({ operation: { requestBody, responses } }) =>
      [
        answersIn(responses, 200, 300).map(({ $ref }) => $ref),
        answersIn(responses, 400, 600).map(({ $ref }) => $ref),
        Object.keys(requestBody?.content ?? {}),
      ].some((types) => new Set(types).size > 1),
    );
    expect(several.map(({ operation }) => operation.operationId)).toEqual([]);
  });

  it('uses allOf only around a single reference, never for inheritance', () => {
    const merged = schemasIn(document).filter(
      ({ allOf, properties, additionalProperties, required }) =>
        allOf && (allOf.length > 1 || properties || additionalProperties || required),
    );
    expect(merged).toEqual([]);
  });

  it('gives every number a format, and every enum text values only', () => {
    const formats: Readonly<Record<string, RegExp>> = {
      integer: /^int(32|64)$/,
      number: /^double$/,
    };
    const wrong = schemasIn(document).filter(({ type = '', format = '', enum: words = [] }) => {
      const wanted = formats[type];
      return (wanted && !wanted.test(format)) || words.some((word) => typeof word !== 'string');
    });
    expect(wrong).toEqual([]);
  });

  it('begins every pattern with ^, because Python clients match at the beginning', () => {
    const others = schemasIn(document).filter(({ pattern = '^' }) => !pattern.startsWith('^'));
    expect(others).toEqual([]);
  });

  it('gives names to the enum values that are not identifiers', () => {
    for (const [name, { enum: words, 'x-enum-varnames': varnames }] of Object.entries(schemas)) {
      if (!words || words.every((word) => /^[a-z]\w*$/i.test(String(word)))) continue;
      const given = varnames as readonly string[];
      expect([name, given?.length, new Set(given).size]).toEqual([
        name,
        words.length,
        words.length,
      ]);
      expect(given.filter((word) => !/^[A-Z][A-Za-z0-9]+$/.test(word))).toEqual([]);
    }
  });

  it('names bodies with nouns, so that they do not collide with generated names of operations', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    // The words `list` and `triage` are verbs and also nouns.
    const verbs = new Set(ids.map((id) => /^[a-z]+/.exec(id)![0]));
    for (const noun of ['list', 'triage']) verbs.delete(noun);
    const firstWord = (name: string) => /^[A-Z][a-z]*/.exec(name)![0].toLowerCase();
    // The name of an action type is a verb. So the schemas of its request and of its parameters begin with a verb.
    const ofActions = new Set(
      ACTION_TYPES.map(pascal).flatMap((name) => [`${name}Request`, `${name}Parameters`]),
    );
    const verbal = names.filter((name) => verbs.has(firstWord(name)) && !ofActions.has(name));
    expect(verbal).toEqual([]);
    const taken = new Set(ids.flatMap(operationNames));
    expect(names.filter((name) => taken.has(name.toLowerCase()))).toEqual([]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  });

  it('has no schema whose name a generator creates for a field of another schema', () => {
    const pascal = (field: string) =>
      field.replace(/(^|_)([a-z])/g, (_, __, first: string) => first.toUpperCase());
    const makesType = ({ enum: words, pattern, minLength, maxLength, properties }: Schema) =>
      [words, pattern, minLength, maxLength, properties].some((part) => part !== undefined);
    const taken = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([, property]) => makesType(property))
        .map(([field]) => `${name}${pascal(field)}`),
    );
    expect(taken.filter((name) => name in schemas)).toEqual([]);
  });

  it('has no schema whose name a Go generator creates for the constructor of another schema', () => {
    const taken = new Set(names.map((name) => `New${name}`));
    expect(names.filter((name) => taken.has(name))).toEqual([]);
  });

  it('has no schema with the name of a security scheme', () => {
    const { securitySchemes } = document.components as unknown as { securitySchemes: object };
    const taken = new Set(Object.keys(securitySchemes).map((name) => name.toLowerCase()));
    expect(names.filter((name) => taken.has(name.toLowerCase()))).toEqual([]);
  });

  it('has one schema for each kind of id, in paths and in bodies', () => {
    const inAddresses = operations.flatMap(({ path, operation: { parameters = [] } }) =>
      parameters
        .filter((parameter) => parameter.in === 'path' && !parameter.schema?.$ref)
        .map(({ name }) => `${path} ${name}`),
    );
    expect(inAddresses).toEqual([]);
    const wrapped = operations.flatMap(({ path, operation: { parameters = [] } }) =>
      parameters.filter(({ schema }) => schema?.allOf).map(({ name }) => `${path} ${name}`),
    );
    expect(wrapped).toEqual([]);
    // The id of a deleted item has no named schema, because the item may be of any kind.
    const unnamed = placesIn(document, ({ format }) => format === 'uuid');
    expect(unnamed).toEqual(['components/schemas/DeletedResource/properties/id']);
  });

  it('keeps growing enums open in responses, and names their current values', () => {
    const open = Object.entries(schemas).filter(([, schema]) => schema['x-extensible-enum']);
    expect(open.map(([name]) => name)).toEqual(
      expect.arrayContaining(['ActionTypeName', 'ErrorCode', 'EventFormat', 'TriageProvider']),
    );
    for (const [name, schema] of open) {
      const { type, enum: words, description, 'x-extensible-enum': known } = schema;
      expect([name, type, words]).toEqual([name, 'string', undefined]);
      const untold = (known as string[]).filter((word) => !String(description).includes(word));
      expect([name, untold]).toEqual([name, []]);
    }
    const closed = operations.flatMap(({ operation }) =>
      [...reachable(operation.responses, document)].filter((name) => name.startsWith('Known')),
    );
    expect(closed).toEqual([]);
  });
});
