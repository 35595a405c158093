import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Whether the caller prefers an answer before the work is done (RFC 7240). What a list says besides is ignored. */
export function prefersAsync(header: string | undefined): boolean {
  return (header ?? '')
    .split(',')
    .some((preference) => preference.split(/[;=]/)[0]!.trim().toLowerCase() === 'respond-async');
}

/** Whether the request says `Prefer: respond-async`. */
export const PrefersAsync = createParamDecorator((_: unknown, context: ExecutionContext): boolean =>
  prefersAsync(
    context.switchToHttp().getRequest<FastifyRequest>().headers['prefer'] as string | undefined,
  ),
);

/** Says that the preference was followed. */
export function setRespondedAsync(reply: FastifyReply): void {
  void reply.header('preference-applied', 'respond-async');
}

export const PREFERENCE_APPLIED_HEADER = {
  'Preference-Applied': {
    description: 'Present when the request asked for it with Prefer.',
    schema: { type: 'string' as const, example: 'respond-async' },
  },
};

export const ApiPrefersAsync = (): MethodDecorator =>
  ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`respond-async`: answer at once with 202, and do the work afterwards.',
    schema: { type: 'string', example: 'respond-async' },
  });
