import type { ErrorCode } from '../errors/error-catalogue.js';

/** A request, and what a service answers to it in the story that all examples tell. */
export interface OperationExample {
  /** What readers choose it by. */
  readonly summary: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A person does it who is logged in: with a key it is another matter. */
  readonly session?: true;
  readonly status: number;
  readonly answer: unknown;
}

/** The examples of one operation by the names of their cases. Tools show the first; code samples send the first in which all goes well. */
export type ExamplesByCase = Readonly<Record<string, OperationExample>>;

/** By operationId. */
export type OperationExamples = Readonly<Record<string, ExamplesByCase>>;

export const REQUEST_ID = '019c138d-6704-7000-a012-264bc847fa9a';

/** An answer that is an error. */
export const refused = (code: ErrorCode, message: string, more: object = {}) => ({
  error: { code, message, request_id: REQUEST_ID, ...more },
});
