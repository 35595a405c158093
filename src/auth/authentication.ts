import type { FastifyRequest, FastifyReply } from 'fastify';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { Settings } from '../platform/config/settings.js';
import { accessOf, requiredRole } from '../platform/access/access.js';
import type { Role } from '../platform/access/roles.js';
import { AppError } from '../platform/errors/app-error.js';
import { FailureLimits } from '../platform/limits/limits.js';
import { type Credential, Credentials, hashOf, type VerifiedCredential } from './credentials.js';
import {
  OtherSiteError,
  type Principal,
  RefusedError,
  requireRole,
  UnauthorizedError,
} from './principal.js';
import '@fastify/cookie';
import '../platform/http/request.js';

const BEARER = /^bearer +([\x21-\x7e]{1,256})$/i;

/** Ignores the cookie beside an Authorization header. Rejects several such headers: a proxy may have checked another. */
function credentialOf(request: FastifyRequest): Credential | undefined {
  const headers = request.raw.headersDistinct.authorization;
  if (headers === undefined) return sessionCredentialOf(request);
  const token = headers.length === 1 ? BEARER.exec(headers[0]!)?.[1] : undefined;
  return { kind: 'key', token: token ?? '' };
}

function sessionCredentialOf(request: FastifyRequest): Credential | undefined {
  const token = request.cookies[sessionCookieOf(request).name];
  return token ? { kind: 'user', token } : undefined;
}

/** First guard, so that an unknown caller learns nothing and costs little. Rejects handlers without an access rule. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  private readonly metricsHash: Buffer | undefined;

  constructor(
    { metricsToken }: Settings,
    private readonly credentials: Credentials,
    private readonly failures: FailureLimits,
  ) {
    this.metricsHash = metricsToken === undefined ? undefined : hashOf(metricsToken);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const access = accessOf(context);
    if (!access) throw new AppError('forbidden', 'No caller may use this address.');
    const role = requiredRole(access);
    if (role || (access === 'operations' && !this.hasMetricsToken(request))) {
      request.caller = await this.requirePrincipal(request, role);
    } else if (access === 'page') {
      request.caller = await this.findVisitor(request);
    } else if (access === 'metrics') await this.requireMetricsToken(request);
    return true;
  }

  private async requirePrincipal(request: FastifyRequest, required: Role | undefined) {
    const credential = credentialOf(request);
    if (!credential) throw new UnauthorizedError();
    const verified = await this.credentials.verify(credential);
    if (!verified) {
      // A caller with an expired session did not guess the session, so the request does not count as a failed attempt.
      if (credential.kind === 'user') throw new UnauthorizedError();
      const limited = await this.failures.record('key', request.ip);
      throw unknownKey(limited ?? new UnauthorizedError());
    }
    // Browsers also send the cookie with requests from pages of other sites.
    if (credential.kind === 'user' && isUnsafe(request) && originOf(request) !== 'same') {
      const actor = verified.identity.name;
      throw new RefusedError({ action: 'auth.cross_origin_refused', actor }, new OtherSiteError());
    }
    return this.principalOf(credential, verified, required);
  }

  /** Rejects forms of other sites before the rate limits, so that another site cannot use up a visitor's limit. */
  private async findVisitor(request: FastifyRequest): Promise<Principal | undefined> {
    if (isUnsafe(request) && originOf(request) === 'other') throw new OtherSiteError();
    const credential = sessionCredentialOf(request);
    if (!credential) return undefined;
    // A page is shown while the database is down, but a logout must not miss the session.
    const verifying = this.credentials.verify(credential);
    const verified = await (isUnsafe(request) ? verifying : verifying.catch(() => undefined));
    return verified && this.principalOf(credential, verified, undefined);
  }

  /** Works without the database. Compares hashes, so that the response time does not reveal the length of the token. */
  private hasMetricsToken(request: FastifyRequest): boolean {
    const credential = credentialOf(request);
    return (
      this.metricsHash !== undefined &&
      credential?.kind === 'key' &&
      timingSafeEqual(this.metricsHash, hashOf(credential.token))
    );
  }

  private async requireMetricsToken(request: FastifyRequest): Promise<void> {
    if (this.metricsHash === undefined || this.hasMetricsToken(request)) return;
    const limited = await this.failures.record('metrics_token', request.ip);
    const error = limited ?? new UnauthorizedError('METRICS_TOKEN is required as a bearer token.');
    throw credentialOf(request) ? unknownKey(error) : error;
  }

  /** Returns a principal that reads the credential again in each writing transaction. */
  private principalOf(
    credential: Credential,
    { lookup, identity }: VerifiedCredential,
    requiredRole: Role | undefined,
  ): Principal {
    const principal: Principal & { role: Role } = {
      ...identity,
      requiredRole,
      requireStillValid: async () => {
        if (!(await this.credentials.verify(credential))) throw new UnauthorizedError();
      },
      begin: async (tx) => {
        const present = (await this.credentials.find([lookup], tx)).get(lookup);
        if (!present) throw new UnauthorizedError();
        principal.role = present.identity.role;
        if (requiredRole) requireRole(principal, requiredRole);
      },
    };
    return principal;
  }
}

/** Runs after the guards that check the request itself, so that an invalid request is rejected as invalid first. */
@Injectable()
export class RoleGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const required = requiredRole(accessOf(context) ?? 'public');
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (required) requireRole(caller!, required);
    return true;
  }
}

function unknownKey(told: AppError): RefusedError {
  return new RefusedError({ action: 'auth.key_refused' }, told);
}

const isUnsafe = ({ method }: FastifyRequest) => !['GET', 'HEAD', 'OPTIONS'].includes(method);

/** `unknown` if the request has neither of the two headers, like the requests of programs. */
type OriginVerdict = 'same' | 'other' | 'unknown';

/** Reads Sec-Fetch-Site and Origin. Only browsers send these headers, and pages cannot change them. */
export function originOf({
  protocol,
  host,
  headers: { origin, 'sec-fetch-site': site },
}: Pick<FastifyRequest, 'protocol' | 'host' | 'headers'>): OriginVerdict {
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? 'same' : 'other';
  if (origin === undefined) return 'unknown';
  if (!URL.canParse(origin)) return 'other';
  const from = new URL(origin);
  // Behind an untrusted proxy, the service sees http although the browser uses https. So only the reverse is rejected.
  const isWeaker = protocol === 'https' && from.protocol !== 'https:';
  return from.host === host.toLowerCase() && !isWeaker ? 'same' : 'other';
}

/** Browsers accept a `__Host-` cookie only over https and from this host, so no other host can set such a cookie. */
function sessionCookieOf({ protocol }: FastifyRequest) {
  const secure = protocol === 'https';
  const options = { httpOnly: true, sameSite: 'lax', path: '/', secure } as const;
  return { name: secure ? '__Host-its_session' : 'its_session', options };
}

/** @param token absent to remove the cookie */
export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, token?: string) {
  const { name, options } = sessionCookieOf(request);
  if (token === undefined) reply.clearCookie(name, options);
  else reply.setCookie(name, token, options);
}
