import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    knowsRespondAsync?: boolean;
  }
}

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

/** Says that the preference was followed, where the request has it and the answer, now or as it was before, is 202. */
export function setRespondedAsync(reply: FastifyReply): void {
  const { knowsRespondAsync } = reply.routeOptions.config;
  if (!knowsRespondAsync || reply.statusCode !== 202) return;
  if (!prefersAsync(reply.request.headers['prefer'] as string | undefined)) return;
  void reply.header('preference-applied', 'respond-async');
}

export const PREFERENCE_APPLIED_HEADER = {
  'Preference-Applied': {
    description: 'Present when the request asked for it with Prefer.',
    schema: { type: 'string' as const, example: 'respond-async' },
  },
};

/** For an operation that asks whether the request has the preference. Without an example, which Swagger UI would send. */
export const KnowsRespondAsync = (): MethodDecorator =>
  applyDecorators(
    RouteConfig({ knowsRespondAsync: true }),
    ApiHeader({
      name: 'Prefer',
      required: false,
      description: '`respond-async`: answer at once with 202, and do the work afterwards.',
      schema: { type: 'string' },
    }),
  );
