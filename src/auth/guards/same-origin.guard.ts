import type { FastifyRequest } from 'fastify';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError } from '../../platform/errors/app-error.js';
import { FROM_ANOTHER_SITE } from '../auth.errors.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** `unknown` if the request has neither header, as requests of programs. */
type OriginVerdict = 'same' | 'other' | 'unknown';

export function isUnsafeMethod({ method }: FastifyRequest): boolean {
  return !SAFE_METHODS.has(method);
}

/** Only browsers send these headers, and pages cannot change them. */
export function originOf({
  protocol,
  host,
  headers: { origin, 'sec-fetch-site': site },
}: Pick<FastifyRequest, 'protocol' | 'host' | 'headers'>): OriginVerdict {
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? 'same' : 'other';
  if (origin === undefined) return 'unknown';
  return isThisHost(origin, protocol, host) ? 'same' : 'other';
}

function isThisHost(origin: string, protocol: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  // Behind an untrusted proxy the service sees http while the browser sees https. Only the reverse is rejected.
  const weaker = protocol === 'https' && from.protocol !== 'https:';
  return from.host === host.toLowerCase() && !weaker;
}

const DEMAND = Symbol('same origin');

type Demand = 'not-another-site' | 'this-site';

/** Rejects requests from another site, and accepts requests without origin headers. For login and logout. */
export const RefusesOtherSites = (): MethodDecorator => SetMetadata(DEMAND, 'not-another-site');

/** Requires proof that a request with a session comes from this site. For forms outside /api. */
export const RequiresThisSite = (): MethodDecorator => SetMetadata(DEMAND, 'this-site');

/**
 * Programs send no origin and have no cookies that another site could misuse. The guard runs before the rate limits,
 * so that a page of another site cannot use up the rate limit of a visitor.
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
    throw new AppError('forbidden', FROM_ANOTHER_SITE);
  }
}
