import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AuditEntry } from '../audit/audit-entry.js';
import {
  type ApprovalLevel,
  approvalLevelOf,
  levelReaches,
  type Role,
  roleReaches,
} from '../platform/access/roles.js';
import { AppError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/request.js';

export interface Principal extends Caller {
  readonly kind: 'key' | 'user';
  readonly id: string;
  /** Role that the handler requires. `undefined` if the handler accepts every role. */
  readonly requiredRole: Role | undefined;
  /** Person behind the principal: the user, or the owner of the key. Without an owner, the name of the key. */
  readonly person: string;
  /** Id of the user behind the principal. `undefined` for a key without an owner. */
  readonly personId?: string;
  /** Rejects if the key or session has become invalid since the request arrived. Called by requests that wait. */
  requireStillValid(): Promise<void>;
}

/** Gives no reason, so that an attacker does not learn which part of the credentials was right. */
export class UnauthorizedError extends AppError {
  constructor(message = 'A valid API key or session is required.') {
    super('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } });
  }
}

export class InvalidCredentialsError extends AppError {
  constructor(what = 'The user name or the password') {
    super('invalid_credentials', `${what} is wrong.`);
  }
}

export class NameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `The name ${name} is in use, or was used before.`);
  }
}

export class OtherSiteError extends AppError {
  constructor() {
    super('forbidden', 'The request comes from another site, or does not name its origin.');
  }
}

/** Without `actor`, the caller is unknown: the audit record then shows only the network. */
export type Refusal = Pick<AuditEntry, 'action'> & Partial<AuditEntry>;

/** Refusals writes `refusal` into the audit trail and sends the error `told` to the caller. */
export class RefusedError extends AppError {
  constructor(
    readonly refusal: Refusal,
    told: AppError,
  ) {
    super(told.code, told.message, told.extras);
  }
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
  const message = `This needs at least the role ${required}; yours is ${role}.`;
  const extras = { details: { required_role: required } };
  throw new RefusedError(
    { action: 'auth.role_refused', actor: name, details: { role, required_role: required } },
    new AppError('forbidden', message, extras),
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
