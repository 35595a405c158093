import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Once } from './once.js';

declare module 'fastify' {
  interface FastifyRequest {
    once?: Once;
  }
}

const ANSWERS_ONCE = Symbol('answers once');

/** For a request without Idempotency-Key. */
const EVERY_TIME: Once = { keeping: () => ({}), freeing: () => ({}) };

const RequestsOnce = createParamDecorator(
  (_: unknown, context: ExecutionContext): Once =>
    context.switchToHttp().getRequest<FastifyRequest>().once ?? EVERY_TIME,
);

/** Gives a POST handler the means to answer a repeated request as it did the first time: see Once. */
export function AnswerOnce(): ParameterDecorator {
  const inject = RequestsOnce();
  return (target, method, index) => {
    inject(target, method, index);
    if (method !== undefined) Reflect.defineMetadata(ANSWERS_ONCE, true, target, method);
  };
}

export function answersOnce(controller: object, method: string): boolean {
  return Reflect.getMetadata(ANSWERS_ONCE, controller, method) === true;
}
