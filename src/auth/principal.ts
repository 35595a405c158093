import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller, KeyLimitClass, LimitClass } from '../platform/http/caller.js';
import type { Role } from '../platform/access/roles.js';
import { AppError } from '../platform/errors/app-error.js';
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

/** A key and its permissions, as last read from the database. */
export interface VerifiedKey {
  readonly kind: 'key';
  readonly id: string;
  readonly name: string;
  /** Name of the owner, or the name of the key if it has none. */
  readonly person: string;
  /** Id of the owner. */
  readonly personId?: string;
  readonly role: Role;
  readonly limitClass: KeyLimitClass;
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  readonly secretHash: Buffer;
  readonly endsAt?: number;
  readonly usedAt: number;
}

/** A session and its user, as last read from the database. */
export interface VerifiedSession {
  readonly kind: 'user';
  /** Id of the user. */
  readonly id: string;
  readonly sessionId: string;
  readonly name: string;
  readonly role: Role;
  readonly endsAt: number;
  readonly usedAt: number;
}

export type VerifiedCredential = VerifiedKey | VerifiedSession;

/** Principal of the request. Guards ensure that it exists if a role is required. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal => {
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!caller) throw new AppError('unauthorized', 'Authentication is required.');
    return caller as Principal;
  },
);
