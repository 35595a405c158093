import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../platform/http/request.js';
import type { Role } from '../platform/access/roles.js';
import { UnauthorizedError } from './auth.errors.js';
import '../platform/http/request.js';

export interface Principal extends Caller {
  readonly kind: 'key' | 'user';
  readonly id: string;
  /** Role required by the handler; `undefined` if every role is allowed. */
  readonly requiredRole: Role | undefined;
  /**
   * Name of the user behind the principal. For a key: the user who created the key, directly or through another key;
   * without such a user, the key itself.
   */
  readonly person: string;
  /** Id of that user. `undefined` for a key without a user. */
  readonly personId?: string;
  /**
   * Rejects if the key or session has ended since the request arrived. An end takes effect within 1 s. For requests that
   * wait, because their credential was checked on arrival.
   */
  requireStillValid(): Promise<void>;
}

type Identity = Pick<
  Principal,
  'kind' | 'id' | 'name' | 'person' | 'personId' | 'sessionId' | 'role' | 'limit_class' | 'limits'
>;

/** A key or session, as last read from the database. */
export interface VerifiedCredential {
  readonly identity: Identity;
  /** Hash of a key. A session has no hash here, because a session is found by its hash. */
  readonly secretHash?: Buffer;
  readonly endsAt: Date | null;
  readonly usedAt: Date | null;
}

/** Injects the principal of the request. Guards ensure that the principal exists if a role is required. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal => {
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!caller) throw new UnauthorizedError();
    return caller as Principal;
  },
);
