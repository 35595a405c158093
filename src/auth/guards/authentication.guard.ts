import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DeclaredAccess, requiredRole } from '../../platform/access/access.js';
import { AppError } from '../../platform/errors/app-error.js';
import '../../platform/http/request.js';
import { Authentication } from '../authentication/authentication.js';
import { UnauthorizedError } from '../auth.errors.js';
import { requireRole } from '../authorisation.js';
import type { Principal } from '../principal.js';

/** First guard: an unknown caller learns nothing and costs little. A handler without a declaration is closed. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly access: DeclaredAccess,
    private readonly authentication: Authentication,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const access = this.access.of(context);
    if (!access) throw new AppError('forbidden', 'This address is not open to anyone.');
    const role = requiredRole(access);
    const { authentication } = this;
    if (role || (access === 'operations' && !authentication.hasMetricsToken(request))) {
      request.caller = await authentication.requirePrincipal(request, role);
    } else if (access === 'page') {
      const principal = await authentication.findSessionUser(request);
      if (principal) request.caller = principal;
    } else if (access === 'metrics') await authentication.requireMetricsToken(request);
    return true;
  }
}

/**
 * Comes after the guards that check the request itself, so that an invalid request is rejected before a missing
 * permission.
 */
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
