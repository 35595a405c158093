import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  type ApprovalLevel,
  approvalLevelOf,
  levelReaches,
  type Role,
  roleReaches,
  ROLES,
} from '../platform/access/roles.js';
import { AppError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/request.js';
import { RefusedError, UnauthorizedError } from './auth.errors.js';

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
  /** Rejects if the key or session has ended since the request arrived, for requests that wait. */
  requireStillValid(): Promise<void>;
}

/** Guards ensure that the principal exists if a role is required. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal => {
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!caller) throw new UnauthorizedError();
    return caller as Principal;
  },
);

/*
 * The permissions of a caller depend on the role only. Guards check permissions before a request costs anything.
 * Transactions check them again with the role at that time.
 */

export function requireRole({ name, role }: Pick<Principal, 'name' | 'role'>, required: Role) {
  if (roleReaches(role, required)) return;
  const allowed = ROLES.slice(ROLES.indexOf(required))
    .map((one) => `${one.startsWith('a') ? 'an' : 'a'} ${one}`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');
  const extras = { details: { required_role: required } };
  throw new RefusedError(
    { action: 'auth.role_refused', actor: name, details: { role, required_role: required } },
    new AppError('forbidden', `Only ${allowed} may do this.`, extras),
  );
}

export function requireApprovalLevel(
  { name, role }: Pick<Principal, 'name' | 'role'>,
  required: ApprovalLevel,
) {
  const own = approvalLevelOf(role);
  if (levelReaches(own, required)) return;
  const message = `This needs approval level ${required}; yours is ${own}.`;
  const fields = { required_level: required, your_level: own };
  throw new RefusedError(
    { action: 'auth.level_refused', actor: name, details: { role, required_level: required } },
    new AppError('insufficient_approval_level', message, { fields }),
  );
}
