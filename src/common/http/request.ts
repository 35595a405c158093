import type { FastifyRequest } from 'fastify';
import type { AppError } from '../errors/app-error.js';
import type { Caller } from '../caller.js';
import type { Answer } from './answer-instead.js';

/** What the body reader left for the guards, which decide when to look at it. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** Why the bytes are not all there, or of no use. */
  readonly problem?: AppError;
}

declare module 'fastify' {
  interface FastifyRequest {
    received?: ReceivedBody;
    /** What is wrong with the content of a readable body: said after the caller's role is known to suffice. */
    contentProblem?: AppError;
    caller?: Caller;
    /** Has the last word on what a handler answers. */
    settleAnswer?: (answer: Answer) => Promise<Answer>;
  }
}

export type { FastifyRequest };
