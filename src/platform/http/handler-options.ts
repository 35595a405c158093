import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type BodyKind = 'json' | 'json-or-form' | 'raw';

export const BODY_KIND = Symbol('body kind');
export const BODY_UP_TO = Symbol('body up to');
export const ANY_QUERY = Symbol('any query');
export const ANY_KEYS = Symbol('any keys');

/** Type of the body. Default: JSON. `raw` leaves the bytes to the guard of the handler. */
export const Consumes = (kind: BodyKind) => SetMetadata(BODY_KIND, kind);

/** Field of the body whose objects may have any keys, in larger number: a reported attack must not be rejected. */
export const AnyKeysIn = (field: string) => SetMetadata(ANY_KEYS, field);

export const AnyQuery = () => SetMetadata(ANY_QUERY, true);

/** Maximum size of a body where no role is required: a user name and a password, with room to spare. */
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

/** Whether the caller prefers an answer before the work is done (RFC 7240). Other preferences are ignored. */
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

/** Documents the preference, without an example, which Swagger UI would send. */
export const ApiPreferAsync = (): MethodDecorator =>
  ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`respond-async`: answer at once with 202, and do the work afterwards.',
    schema: { type: 'string' },
  });
