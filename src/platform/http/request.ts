import type { FastifyRequest } from 'fastify';
import type { AppError } from '../errors/app-error.js';
import type { ArrivingBody } from './arriving-body.js';
import type { Caller } from './caller.js';
import type { Span } from '../tracing/tracing.js';

/** An answer as it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The unread body. BodyGuard decides when to read it. */
    arriving?: ArrivingBody;
    /** The bytes of the body, after they were read. */
    received?: Buffer;
    /** Defect in the content of a readable body, reported after the check of the role. */
    contentProblem?: AppError;
    caller?: Caller;
    /** The error of the response. */
    failure?: AppError;
    /** The id of the created or changed resource, if the path does not contain one. */
    answeredId?: string;
    /** The span of the request; undefined if tracing is off. */
    span?: Span;
    /** Completes the response of a handler. */
    completeAnswer?: (answer: Answer) => Promise<Answer>;
  }
}

export type { FastifyRequest };
