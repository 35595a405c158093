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
  /** Role that the handler requires. `undefined` if the handler accepts every role. */
  readonly requiredRole: Role | undefined;
  /** Person behind the principal: the user, or the owner of the key. Without an owner, the name of the key. */
  readonly person: string;
  /** Id of the user behind the principal. `undefined` for a key without an owner. */
  readonly personId?: string;
  /** For requests that wait: rejects if the key or session has become invalid since the request arrived. */
  requireStillValid(): Promise<void>;
}

export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal => {
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!caller) throw new UnauthorizedError();
    return caller as Principal;
  },
);

/* Guards check the role before a request costs anything. Transactions check it again, with the current role. */

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
