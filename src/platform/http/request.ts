import type { FastifyRequest } from 'fastify';
import type { AppError } from '../errors/app-error.js';
import type { ArrivingBody } from './arriving-body.js';
import type { Caller } from './caller.js';
import type { Answer } from './answer.js';
import type { Span } from '../tracing/tracing.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** A body that is on its way in; BodyGuard decides when to read it. */
    arriving?: ArrivingBody;
    /** Its bytes, once they have been read. */
    received?: Buffer;
    /** What is wrong with the content of a readable body: said after the caller's role is known to suffice. */
    contentProblem?: AppError;
    caller?: Caller;
    /** The error that it is answered with. */
    failure?: AppError;
    /** The id of what it made or changed, where its address does not name one. */
    answeredId?: string;
    /** What traces tell of it; undefined where nobody wants any. */
    span?: Span;
    /** Has the last word on what a handler answers. */
    completeAnswer?: (answer: Answer) => Promise<Answer>;
  }
}

export type { FastifyRequest };
