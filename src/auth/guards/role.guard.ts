import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import '../../platform/http/request.js';
import { UnauthorizedError } from '../auth.errors.js';
import { requireRole } from '../authorisation.js';
import { type Principal } from '../principal.js';
import { DeclaredAccess, requiredRole } from '../../platform/access/declared-access.js';

/** Comes after the guards that judge the request as such: what is wrong with it is said before that its caller may not send it. */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(private readonly access: DeclaredAccess) {}

  canActivate(context: ExecutionContext): boolean {
    const access = this.access.of(context);
    const required = access && requiredRole(access);
    if (!required) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = request.caller as Principal | undefined;
    if (!caller) throw new UnauthorizedError();
    requireRole(caller, required);
    return true;
  }
}
