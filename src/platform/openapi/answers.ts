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

export const ERRORS_EXTENSION = 'x-errors';
export const SCHEMAS_EXTENSION = 'x-schemas';
export const MEANINGS_EXTENSION = 'x-error-meanings';
export const EXAMPLE_EXTENSION = 'x-example';
export const ERROR_PAGES_EXTENSION = 'x-error-pages';

/** An answer that is one of several types. All statuses of success have to name the same one: some generators know only one. */
export interface OneOf {
  readonly name: string;
  readonly types: readonly Type[];
  /** The field that tells which it is, and the type for each of its words. */
  readonly by?: { readonly field: string; readonly words: Readonly<Record<string, Type>> };
}

interface AnswerOptions {
  readonly status: number;
  readonly description: string;
  readonly type?: Type | OneOf;
  /** The answer has no envelope. */
  readonly raw?: boolean;
  readonly list?: boolean;
  /** A list without pages: it has as many items as there are, or as somebody has set up. */
  readonly catalogue?: boolean;
  readonly contentType?: string;
  /** For a body that no class describes; text when it is left out. */
  readonly schema?: SchemaObject;
  readonly headers?: Record<string, { description: string; schema: SchemaObject }>;
}

/**
 * The id under which generated clients know an operation, its title, and what else there is to say about it. A comment on
 * a handler is for those who read the code: the contract shows none.
 */
export function Operation(
  operationId: string,
  summary: string,
  description?: string,
): MethodDecorator {
  return ApiOperation({ operationId, summary, description });
}

/**
 * Documents one answer. An enveloped type becomes a component of its own (`IncidentEnvelope`, `IncidentList`), so that
 * generated clients get named types instead of anonymous ones.
 */
export function ApiAnswer(options: AnswerOptions): MethodDecorator & ClassDecorator {
  const { status, description, type, headers, contentType = 'application/json' } = options;
  const { schema = { type: 'string' } } = options;
  const types = type && ('types' in type ? type.types : [type]);
  const content = { [contentType]: { schema: type ? schemaOf(type, options) : schema } };
  const response = ApiResponse({ status, description, content, headers });
  return applyDecorators(ApiExtraModels(...(types ?? [])), response);
}

const ref = (type: Type) => ({ $ref: getSchemaPath(type) });

function schemaOf(
  type: Type | OneOf,
  { raw, list, catalogue }: AnswerOptions,
): SchemaObject | ReferenceObject {
  if ('types' in type) return raw ? oneOf(type) : envelopeOf(type);
  if (raw) return ref(type);
  const kind = list ? 'List' : catalogue ? 'Catalogue' : 'Envelope';
  return { $ref: `#/components/schemas/${type.name.replace(/Dto$/, '')}${kind}` };
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
  oneOf: types.map(ref),
  discriminator: by && {
    propertyName: by.field,
    mapping: Object.fromEntries(
      Object.entries(by.words).map(([word, type]) => [word, getSchemaPath(type)]),
    ),
  },
});

/** The errors that an operation may answer beside those that all operations of its kind share. */
export function ApiErrors(...codes: readonly ErrorCode[]): MethodDecorator & ClassDecorator {
  return ApiExtension(ERRORS_EXTENSION, codes);
}

/** What an error says at this operation, where that is more than the catalogue's words for all operations. */
export type ErrorMeanings = Readonly<Partial<Record<ErrorCode, string>>>;

/** What `conflict` says of a POST at which nothing else can be in the way. */
export const SAME_KEY_UNDER_WAY = 'A request with the same Idempotency-Key is still under way.';

export function ApiErrorMeanings(meanings: ErrorMeanings): MethodDecorator & ClassDecorator {
  return ApiExtension(MEANINGS_EXTENSION, meanings);
}

/** The operation tells a browser's form its errors as a page. */
export function ApiErrorPages(): MethodDecorator & ClassDecorator {
  return ApiExtension(ERROR_PAGES_EXTENSION, true);
}

/** Schemas that the operation refers to, by their names, where no class describes them. */
export function ApiSchemas(schemas: Readonly<Record<string, SchemaObject>>): MethodDecorator {
  return ApiExtension(SCHEMAS_EXTENSION, schemas);
}

/** A whole value of the class; what decorates its fields gives examples of these alone. */
export function ApiExample(example: object): ClassDecorator {
  return ApiExtension(EXAMPLE_EXTENSION, example);
}

/** For the `headers` of an answer that says the version of what it shows. */
export const ETAG_HEADER = {
  ETag: {
    description: 'Names this version of the resource, for If-Match.',
    schema: { type: 'string' as const },
  },
};

const TAG = String.raw`(W/)?"[\x21\x23-\x7e]*"`;

/** Documents If-Match, without an example, which Swagger UI would send; the operation also lists `precondition_failed` among its errors. */
export const ApiIfMatch = (): MethodDecorator =>
  ApiHeader({
    name: 'If-Match',
    required: false,
    description:
      'The ETag that the change is meant for, as an answer gave it; without it, whatever is there.',
    schema: { type: 'string', pattern: `^([*]|${TAG}(, *${TAG})*)$` },
  });
