import type { OpenApiDocument, Operation, Schema } from '../../scripts/contract/document.js';

/* What the rules of the document's shapes look at. */

/** What is no schema, whatever is in it. `x-line` is for readers alone: no generator knows it. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'x-line']);

function visit(
  value: unknown,
  place: readonly string[],
  found: (schema: Schema, place: readonly string[]) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  // The fields of an object are no schema, though one of them may be called `enum`.
  if (place.at(-1) !== 'properties' && !Array.isArray(value)) found(value as Schema, place);
  for (const [key, child] of Object.entries(value)) {
    if (!VALUES.has(key) || place.at(-1) === 'properties') visit(child, [...place, key], found);
  }
}

/** Every schema of the document, however deep. */
export function schemasIn(document: OpenApiDocument): Schema[] {
  const schemas: Schema[] = [];
  visit(document, [], (schema) => schemas.push(schema));
  return schemas;
}

/** Where a schema without a name is that the rule is about. */
export function placesIn(
  document: OpenApiDocument,
  isMeant: (schema: Schema) => boolean,
): string[] {
  const places: string[] = [];
  visit(document, [], (schema, place) => {
    const isNamed = place.length === 3 && place[1] === 'schemas';
    if (!isNamed && isMeant(schema)) places.push(place.join('/'));
  });
  return places;
}

/** The operation with its shared parameters and answers in place. */
export function resolved(operation: Operation, document: OpenApiDocument): Operation {
  const parameters = operation.parameters?.map((one) => target(one, document));
  const responses = Object.fromEntries(
    Object.entries(operation.responses).map(([status, one]) => [status, target(one, document)]),
  );
  const requestBody = operation.requestBody && target(operation.requestBody, document);
  return { ...operation, parameters, requestBody, responses };
}

function target<T extends object>(part: T, document: OpenApiDocument): T {
  if (!('$ref' in part)) return part;
  const steps = String(part.$ref).split('/').slice(1);
  return steps.reduce(
    (value: unknown, step) => (value as Record<string, unknown>)[step],
    document,
  ) as T;
}

/** What generators call the types that they make for an operation, in small letters. */
export function operationNames(operationId: string): string[] {
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
