import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Access, DeclaredAccess, requiredRole } from '../../platform/access/access.js';
import { AppError } from '../../platform/errors/app-error.js';
import '../../platform/http/request.js';
import { Authentication, credentialOf, MetricsToken } from '../authentication/authentication.js';
import { UnauthorizedError } from '../auth.errors.js';
import { requireRole } from '../authorisation.js';
import type { Principal } from '../principal.js';

/** First guard: an unknown caller learns nothing and costs little. A handler without a declaration is closed. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly access: DeclaredAccess,
    private readonly authentication: Authentication,
    private readonly metricsToken: MetricsToken,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const access = this.access.of(context);
    if (!access) throw new AppError('forbidden', 'This address is not open to anyone.');
    await this.admit(request, access);
    return true;
  }

  private async admit(request: FastifyRequest, access: Access): Promise<void> {
    switch (access) {
      case 'signature':
      case 'public':
        return;
      case 'page': {
        const principal = await this.authentication.findSessionUser(request);
        if (principal) request.caller = principal;
        return;
      }
      case 'metrics':
        if (this.metricsToken.isSet && !this.hasMetricsToken(request)) {
          await this.authentication.refuseMetrics(request);
        }
        return;
      case 'operations':
        if (this.hasMetricsToken(request)) return;
        request.caller = await this.authentication.requirePrincipal(request, undefined);
        return;
      case 'viewer':
      case 'analyst':
      case 'senior':
      case 'manager':
      case 'admin':
        request.caller = await this.authentication.requirePrincipal(request, requiredRole(access));
    }
  }

  private hasMetricsToken(request: FastifyRequest): boolean {
    return this.metricsToken.matches(credentialOf(request));
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
