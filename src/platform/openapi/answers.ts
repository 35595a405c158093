import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiExtension,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
  type ReferenceObject,
} from '@nestjs/swagger';
import type { SchemaObject } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/error-catalogue.js';

export const ERRORS_EXTENSION = 'x-errors';
export const MEANINGS_EXTENSION = 'x-error-meanings';
export const ERROR_PAGES_EXTENSION = 'x-error-pages';

interface AnswerOptions {
  readonly status: number;
  readonly description: string;
  readonly type?: Type;
  /** Answers as it is: no envelope. */
  readonly raw?: boolean;
  readonly list?: boolean;
  readonly contentType?: string;
  /** For a body that no class describes; text when it is left out. */
  readonly schema?: SchemaObject;
  readonly example?: unknown;
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
  const { schema = { type: 'string' }, example } = options;
  const content = {
    [contentType]: {
      schema: type ? schemaOf(type, options) : schema,
      example,
    },
  };
  return applyDecorators(
    ...(type ? [ApiExtraModels(type)] : []),
    ApiResponse({ status, description, content, headers }),
  );
}

function schemaOf(type: Type, { raw, list }: AnswerOptions): SchemaObject | ReferenceObject {
  if (raw) return { $ref: getSchemaPath(type) };
  return {
    $ref: `#/components/schemas/${type.name.replace(/Dto$/, '')}${list ? 'List' : 'Envelope'}`,
  };
}

/** The errors of its own that an operation answers, beside those that all operations of its kind share. */
export function ApiErrors(...codes: readonly ErrorCode[]): MethodDecorator & ClassDecorator {
  return ApiExtension(ERRORS_EXTENSION, codes);
}

/** What an error says at this operation, where that is more than the catalogue's words for all operations. */
export type ErrorMeanings = Readonly<Partial<Record<ErrorCode, string>>>;

export function ApiErrorMeanings(meanings: ErrorMeanings): MethodDecorator & ClassDecorator {
  return ApiExtension(MEANINGS_EXTENSION, meanings);
}

/** Tells its errors to a browser's form as a page. */
export function ApiErrorPages(): MethodDecorator & ClassDecorator {
  return ApiExtension(ERROR_PAGES_EXTENSION, true);
}
