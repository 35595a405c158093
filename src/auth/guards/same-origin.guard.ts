import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { CrossOriginError } from '../auth.errors.js';
import { originOf } from './same-origin-rules.js';

const DEMAND = Symbol('same origin');

type Demand = 'not-another-site' | 'this-site';

/** For logging in and out: a request is refused when it comes from another site, and let in when nothing tells. */
export const RefusesOtherSites = (): MethodDecorator => SetMetadata(DEMAND, 'not-another-site');

/** For changes by a form outside /api: with a session, the request has to tell that it comes from this site. */
export const RequiresThisSite = (): MethodDecorator => SetMetadata(DEMAND, 'this-site');

/**
 * Programs do not tell where a request comes from; they have no cookies that another site could use. The guard stands
 * before the rate limits, so that a page of another site does not use up the limit of its visitors and their neighbours.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const demand = this.reflector.get<Demand | undefined>(DEMAND, context.getHandler());
    if (demand === undefined) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const origin = originOf(request);
    const hasSession = request.caller !== undefined;
    const mayBeUnknown = demand === 'not-another-site' || !hasSession;
    if (origin === 'same' || (origin === 'unknown' && mayBeUnknown)) return true;
    throw new CrossOriginError();
  }
}
