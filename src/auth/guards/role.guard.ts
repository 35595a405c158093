import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import '../../platform/http/request.js';
import { RoleTooLowError, UnauthorizedError } from '../auth.errors.js';
import { type Principal } from '../principal.js';
import { roleReaches } from '../../platform/access/roles.js';
import { Refusals } from '../refusals/refusals.js';
import { DeclaredAccess, requiredRole } from '../../platform/access/declared-access.js';

/** The last of the guards: what is wrong with the request as such is told before what its sender may not do. */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(
    private readonly access: DeclaredAccess,
    private readonly refusals: Refusals,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.access.of(context);
    const required = access && requiredRole(access);
    if (!required) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = request.caller as Principal | undefined;
    if (!caller) throw new UnauthorizedError();
    if (roleReaches(caller.role, required)) return true;
    await this.refusals.role(caller, required, request);
    throw new RoleTooLowError(required);
  }
}
