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
   * Name of the user behind the principal. For a key: the user who created it, directly or through another key. A key
   * without such a user stands for itself.
   */
  readonly person: string;
  /** Id of that user; `undefined` for a key without a user. */
  readonly personId?: string;
  /**
   * Rejects if the key or session has ended since, at most 1 s ago. For requests that wait: their credential was checked when
   * they arrived.
   */
  requireStillValid(): Promise<void>;
}

/** Name and permissions of a key, or of the user of a session. */
type Identity = Pick<
  Principal,
  'kind' | 'id' | 'name' | 'person' | 'personId' | 'sessionId' | 'role' | 'limit_class' | 'limits'
>;

/** A key or session, as last read from the database. */
export interface VerifiedCredential {
  readonly identity: Identity;
  /** Hash of a key. A session is found by its hash. */
  readonly secretHash?: Buffer;
  readonly endsAt: Date | null;
  readonly usedAt: Date | null;
}

/** Principal of the request. Guards ensure that it exists if a role is required. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal => {
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!caller) throw new UnauthorizedError();
    return caller as Principal;
  },
);
