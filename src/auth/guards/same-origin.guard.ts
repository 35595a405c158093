import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { CrossOriginError } from '../auth.errors.js';
import { originOf } from './same-origin.js';

const SAME_ORIGIN = Symbol('same origin');

/** How sure it has to be that no other site asks in a visitor's name. */
type Demand = 'no-other-site' | 'this-site';

/** For what logs in and out: no other site may do it in a visitor's name. */
export const RefusesOtherSites = (): MethodDecorator => SetMetadata(SAME_ORIGIN, 'no-other-site');

/** For what acts with the session's authority outside /api: as everything with a cookie, it has to say where it is from. */
export const RequiresThisSite = (): MethodDecorator => SetMetadata(SAME_ORIGIN, 'this-site');

/**
 * A program, which has no browser's cookies to be misused, says nothing of where it comes from. Comes before the rate
 * limits, so that a page of another site cannot use up what its visitors, or their neighbours, may do here.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const demand = this.reflector.get<Demand | undefined>(SAME_ORIGIN, context.getHandler());
    if (demand === undefined) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const origin = originOf(request);
    // Without a session there is nothing to misuse.
    const mustSay = demand === 'this-site' && request.caller !== undefined;
    if (origin === 'same' || (origin === 'unknown' && !mustSay)) return true;
    throw new CrossOriginError();
  }
}
