import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

export type BodyKind = 'json' | 'json-or-form' | 'raw';

export const BODY_KIND = Symbol('body kind');
export const BODY_UP_TO = Symbol('body up to');
export const ANY_QUERY = Symbol('any query');
export const ANY_KEYS = Symbol('any keys');

/** What the handler's body may be. Without it: JSON. `raw` leaves the bytes to the handler's own guard. */
export const Consumes = (kind: BodyKind) => SetMetadata(BODY_KIND, kind);

/**
 * The field of the body whose objects may have any keys, those that reach a prototype in careless hands included: it is
 * kept and answered as text, and an attack that is reported must not get its own report refused. There may be many of them.
 */
export const AnyKeysIn = (field: string) => SetMetadata(ANY_KEYS, field);

/** Ignores query parameters that it does not know. */
export const AnyQuery = () => SetMetadata(ANY_QUERY, true);

/** What a body may have where no role is needed: user name and password, with room to spare. */
export const STRANGERS_BODY_BYTES = 16 * 1024;

/** How many bytes the body may have, where that is something else: `limit` is BODY_LIMIT_BYTES, as for every role. */
export const BodyUpTo = (bytes: number | 'limit') => SetMetadata(BODY_UP_TO, bytes);

/** An AbortSignal for a handler that waits: aborted when the client has closed its connection. */
export const ClientLeft = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const left = new AbortController();
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  raw.once('close', () => left.abort());
  return left.signal;
});
