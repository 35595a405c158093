import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
  type ReferenceObject,
} from '@nestjs/swagger';
import type { SchemaObject } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/error-catalogue.js';
import { AlwaysTrue, ID_EXAMPLE, Text } from '../validation/fields.js';

/** The tag of the operations under /api that also exist at the root. */
export const TWINS_UNDER_API = 'System under /api';

export const ERRORS_EXTENSION = 'x-errors';
export const SCHEMAS_EXTENSION = 'x-schemas';
export const MEANINGS_EXTENSION = 'x-error-meanings';
export const ERROR_PAGES_EXTENSION = 'x-error-pages';

/** One of several types. All success statuses name the same `OneOf`, because some generators support only one. */
interface OneOf {
  readonly name: string;
  readonly types: readonly Type[];
  /** The discriminator field, and the type for each of its values. */
  readonly by?: { readonly field: string; readonly words: Readonly<Record<string, Type>> };
}

interface AnswerOptions {
  /** True if the response has no envelope. */
  readonly raw?: boolean;
  readonly list?: boolean;
  /** True if the list has all items on one page. */
  readonly catalogue?: boolean;
  readonly contentType?: string;
  /** Bodies of the same status with other media types, without an envelope. */
  readonly others?: Readonly<Record<string, Type>>;
  /** Schema of a body that no class describes. Default: text. */
  readonly schema?: SchemaObject;
  readonly headers?: Record<string, { description: string; schema: SchemaObject }>;
}

export const Operation = (
  operationId: string,
  summary: string,
  description?: string,
): MethodDecorator => ApiOperation({ operationId, summary, description });

/** Documents one response. An enveloped type becomes a component (`IncidentEnvelope`, `IncidentList`) for generators. */
export function ApiAnswer(
  status: number,
  description: string,
  type?: Type | OneOf,
  options: AnswerOptions = {},
): MethodDecorator & ClassDecorator {
  const { headers, contentType = 'application/json', others = {} } = options;
  const { schema = { type: 'string' } } = options;
  const types = type && ('types' in type ? type.types : [type]);
  const content: Record<string, { schema: SchemaObject | ReferenceObject }> = {
    [contentType]: { schema: type ? schemaOf(type, options) : schema },
  };
  for (const [other, its] of Object.entries(others)) content[other] = { schema: refTo(its) };
  return applyDecorators(
    ApiExtraModels(...(types ?? []), ...Object.values(others)),
    ApiResponse({ status, description, content, headers }),
  );
}

const refTo = (type: Type) => ({ $ref: getSchemaPath(type) });

function schemaOf(
  type: Type | OneOf,
  { raw, list, catalogue }: AnswerOptions,
): SchemaObject | ReferenceObject {
  if ('types' in type) return raw ? oneOf(type) : envelopeOf(type);
  if (raw) return refTo(type);
  const kind = list ? 'List' : catalogue ? 'Catalogue' : 'Envelope';
  return ref(`${type.name.replace(/Dto$/, '')}${kind}`);
}

const envelopeOf = (type: OneOf): SchemaObject => ({
  title: `${type.name}Envelope`,
  type: 'object',
  required: ['data'],
  properties: { data: oneOf(type) },
  additionalProperties: false,
});

const oneOf = ({ name, types, by }: OneOf): SchemaObject => ({
  title: name,
  oneOf: types.map(refTo),
  discriminator: by && {
    propertyName: by.field,
    mapping: Object.fromEntries(
      Object.entries(by.words).map(([word, type]) => [word, getSchemaPath(type)]),
    ),
  },
});

type HandlerDecorator = MethodDecorator & ClassDecorator;

/** Lists the errors of an operation, except those with a meaning and those that all operations of its kind share. */
export const ApiErrors = (...codes: readonly ErrorCode[]): HandlerDecorator =>
  ApiExtension(ERRORS_EXTENSION, codes);

/** The meaning of an error at one operation, if it is more specific than the catalogue. */
export type ErrorMeanings = Readonly<Partial<Record<ErrorCode, string>>>;

/** The meaning of `conflict` at a POST that has no other conflict. */
export const SAME_KEY_UNDER_WAY = 'A request with the same Idempotency-Key is still under way.';

export const ApiErrorMeanings = (meanings: ErrorMeanings): HandlerDecorator =>
  ApiExtension(MEANINGS_EXTENSION, meanings);

/** Marks an operation that answers a browser form with error pages. */
export const ApiErrorPages = (): HandlerDecorator => ApiExtension(ERROR_PAGES_EXTENSION, true);

/** Adds named schemas that the operation refers to and no class describes. */
export const ApiSchemas = (schemas: Readonly<Record<string, SchemaObject>>): MethodDecorator =>
  ApiExtension(SCHEMAS_EXTENSION, schemas);

export class DeletedResourceDto {
  @Text({ format: 'uuid', example: ID_EXAMPLE })
  readonly id: string;

  @AlwaysTrue()
  readonly deleted: true;
}

export const ETAG_HEADER = {
  ETag: {
    description: 'Version of the resource, for If-Match.',
    schema: { type: 'string' as const },
  },
};

const TAG = String.raw`(W/)?"[\x21\x23-\x7e]*"`;

/** Documents If-Match without an example, because Swagger UI would send it. The operation also lists `precondition_failed`. */
export const ApiIfMatch = (): MethodDecorator =>
  ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'ETag of the version to change. Without it, the request changes any version.',
    schema: { type: 'string', pattern: `^([*]|${TAG}(, *${TAG})*)$` },
  });

/** Reference to a schema of the document by its name. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns the schema name of a word: `isolate_host` is `IsolateHost`. */
export const pascal = (name: string) =>
  name.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
