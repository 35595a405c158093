import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Idempotency } from './idempotency.js';

declare module 'fastify' {
  interface FastifyRequest {
    idempotency?: Idempotency;
  }
}

const IDEMPOTENT = Symbol('idempotent');

/** For a request without Idempotency-Key. */
const NO_KEY: Idempotency = { remember: () => ({}), release: () => ({}) };

const IdempotencyOfRequest = createParamDecorator(
  (_: unknown, context: ExecutionContext): Idempotency =>
    context.switchToHttp().getRequest<FastifyRequest>().idempotency ?? NO_KEY,
);

/** Gives a POST handler what it needs to answer a repeated request as it did the first time: see Idempotency. */
export function Idempotent(): ParameterDecorator {
  const inject = IdempotencyOfRequest();
  return (target, method, index) => {
    inject(target, method, index);
    if (method !== undefined) Reflect.defineMetadata(IDEMPOTENT, true, target, method);
  };
}

export function isIdempotent(controller: object, method: string): boolean {
  return Reflect.getMetadata(IDEMPOTENT, controller, method) === true;
}
