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

export const TWINS_UNDER_API = 'System under /api';

export const ERRORS_EXTENSION = 'x-errors';
export const SCHEMAS_EXTENSION = 'x-schemas';
export const MEANINGS_EXTENSION = 'x-error-meanings';
export const ERROR_PAGES_EXTENSION = 'x-error-pages';

/** All success statuses name the same `OneOf`, because some generators support only one. */
interface OneOf {
  readonly name: string;
  readonly types: readonly Type[];
  /** Discriminator field, and the type for each value of this field. */
  readonly by?: { readonly field: string; readonly words: Readonly<Record<string, Type>> };
}

interface AnswerOptions {
  readonly raw?: boolean;
  readonly list?: boolean;
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

/** The list omits codes that ErrorMeanings describes, and codes that all operations of the same kind have. */
export const ApiErrors = (...codes: readonly ErrorCode[]): HandlerDecorator =>
  ApiExtension(ERRORS_EXTENSION, codes);

export type ErrorMeanings = Readonly<Partial<Record<ErrorCode, string>>>;

/** The meaning of `conflict` at a POST that has no other conflict. */
export const SAME_KEY_UNDER_WAY = 'A request with the same Idempotency-Key is still under way.';

export const ApiErrorMeanings = (meanings: ErrorMeanings): HandlerDecorator =>
  ApiExtension(MEANINGS_EXTENSION, meanings);

export const ApiErrorPages = (): HandlerDecorator => ApiExtension(ERROR_PAGES_EXTENSION, true);

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

/** Has no example, because Swagger UI would send it. The operation must also list `precondition_failed`. */
export const ApiIfMatch = (): MethodDecorator =>
  ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'ETag of the version to change. Without it, the request changes any version.',
    schema: { type: 'string', pattern: `^([*]|${TAG}(, *${TAG})*)$` },
  });

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const pascal = (name: string) =>
  name.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
