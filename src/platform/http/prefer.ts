import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';

/** Whether the caller prefers an answer before the work is done (RFC 7240). Other preferences are ignored. */
export function prefersAsync({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return String(headers['prefer'] ?? '')
    .split(',')
    .some((preference) => preference.split(/[;=]/)[0]!.trim().toLowerCase() === 'respond-async');
}

/** Whether the request has `Prefer: respond-async`. */
export const PrefersAsync = createParamDecorator((_: unknown, context: ExecutionContext): boolean =>
  prefersAsync(context.switchToHttp().getRequest<FastifyRequest>()),
);

export const PREFERENCE_APPLIED_HEADER = {
  'Preference-Applied': {
    description: 'Present when the request asked for it with Prefer.',
    schema: { type: 'string' as const, example: 'respond-async' },
  },
};

/** Documents the preference, without an example, which Swagger UI would send. */
export const ApiPreferAsync = (): MethodDecorator =>
  ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`respond-async`: answer at once with 202, and do the work afterwards.',
    schema: { type: 'string' },
  });
