import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type BodyKind = 'json' | 'json-or-form' | 'raw';

export const BODY_KIND = Symbol('body kind');
export const BODY_UP_TO = Symbol('body up to');
export const ANY_QUERY = Symbol('any query');
export const ANY_KEYS = Symbol('any keys');

/** Type of the body. Default: JSON. `raw` passes the bytes to the guard of the handler. */
export const Consumes = (kind: BodyKind) => SetMetadata(BODY_KIND, kind);

/** Names a body field whose objects may have any keys, and more keys: a reported attack must not be rejected. */
export const AnyKeysIn = (field: string) => SetMetadata(ANY_KEYS, field);

export const AnyQuery = () => SetMetadata(ANY_QUERY, true);

/** Maximum size of a body if no role is required. More than enough for a user name and a password. */
export const STRANGERS_BODY_BYTES = 16 * 1024;

/** Maximum size of the body, if it differs from the default of its access. `limit` is BODY_LIMIT_BYTES. */
export const BodyUpTo = (bytes: number | 'limit') => SetMetadata(BODY_UP_TO, bytes);

/** Injects an AbortSignal, which aborts when the client has closed its connection. */
export const ClientLeft = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const left = new AbortController();
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  raw.once('close', () => left.abort());
  return left.signal;
});

/** True if the caller prefers a response before the work is done (RFC 7240). Ignores other preferences. */
export function prefersAsync({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return String(headers['prefer'] ?? '')
    .split(',')
    .some((preference) => preference.split(/[;=]/)[0]!.trim().toLowerCase() === 'respond-async');
}

export const PrefersAsync = createParamDecorator((_: unknown, context: ExecutionContext): boolean =>
  prefersAsync(context.switchToHttp().getRequest<FastifyRequest>()),
);

export const PREFERENCE_APPLIED_HEADER = {
  'Preference-Applied': {
    description: 'Present when the request asked for it with Prefer.',
    schema: { type: 'string' as const, example: 'respond-async' },
  },
};

/** Documents the header without an example, because Swagger UI would send the example. */
export const ApiPreferAsync = (): MethodDecorator =>
  ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`respond-async`: answer at once with 202, and do the work afterwards.',
    schema: { type: 'string' },
  });
