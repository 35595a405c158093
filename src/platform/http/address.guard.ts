import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { KnownRoutes } from './known-routes.js';

/** Comes after authentication and rate limits: what addresses and methods there are is for callers who are known. */
@Injectable()
export class AddressGuard implements CanActivate {
  constructor(private readonly routes: KnownRoutes) {}

  canActivate(context: ExecutionContext): boolean {
    const problem = this.routes.problemOf(context.switchToHttp().getRequest<FastifyRequest>());
    if (problem) throw problem;
    return true;
  }
}
