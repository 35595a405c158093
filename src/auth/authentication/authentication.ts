import type { FastifyRequest, FastifyReply } from 'fastify';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { Settings } from '../../platform/config/settings.js';
import { accessOf, requiredRole } from '../../platform/access/access.js';
import { hashOf } from '../keys/key-format.js';
import type { Role } from '../../platform/access/roles.js';
import { AppError } from '../../platform/errors/app-error.js';
import { FailureLimits } from '../../platform/limits/limits.js';
import {
  CallerRefusedError,
  FROM_ANOTHER_SITE,
  StrangerRefusedError,
  TooManyFailuresError,
  UnauthorizedError,
} from '../auth.errors.js';
import { isUnsafeMethod, originOf } from '../guards/same-origin.guard.js';
import { requireRole } from '../authorisation.js';
import { PrincipalsRepository } from '../principals.js';
import type { Principal, VerifiedCredential } from '../principal.js';
import { CredentialVerification } from './credential-verification.js';
import '@fastify/cookie';
import '../../platform/http/request.js';

interface Credential {
  readonly kind: 'bearer' | 'session';
  /** Empty if the Authorization header is malformed. */
  readonly token: string;
}

const BEARER = /^bearer +([\x21-\x7e]{1,256})$/i;

/**
 * Ignores the session cookie if the request has any Authorization header. Several Authorization headers are
 * malformed, because a proxy in front of the service may have checked another header than this service would.
 */
function credentialOf(request: FastifyRequest): Credential | undefined {
  const headers = request.raw.headersDistinct.authorization;
  if (headers === undefined) return sessionCredentialOf(request);
  const token = headers.length === 1 ? BEARER.exec(headers[0]!)?.[1] : undefined;
  return { kind: 'bearer', token: token ?? '' };
}

function sessionCredentialOf(request: FastifyRequest): Credential | undefined {
  const token = sessionTokenOf(request);
  return token ? { kind: 'session', token } : undefined;
}

@Injectable()
export class Authentication {
  private readonly metricsHash: Buffer | undefined;

  constructor(
    { metricsToken }: Settings,
    private readonly verification: CredentialVerification,
    private readonly repository: PrincipalsRepository,
    private readonly failures: FailureLimits,
  ) {
    this.metricsHash = metricsToken === undefined ? undefined : hashOf(metricsToken);
  }

  async requirePrincipal(request: FastifyRequest, required: Role | undefined): Promise<Principal> {
    const credential = credentialOf(request);
    if (!credential) throw new UnauthorizedError();
    const verified = await this.verify(credential);
    if (!verified) {
      // An expired session was not guessed, so it does not count as a failed attempt.
      if (credential.kind === 'session') throw new UnauthorizedError();
      throw unknownKey((await this.tooManyFailures('key', request)) ?? new UnauthorizedError());
    }
    // A browser also sends the cookie with requests of pages of other sites.
    const mayBeForged = credential.kind === 'session' && isUnsafeMethod(request);
    if (mayBeForged && originOf(request) !== 'same') {
      const actor = verified.identity.name;
      const refusal = { action: 'auth.cross_origin_refused', actor } as const;
      throw new CallerRefusedError(refusal, 'forbidden', FROM_ANOTHER_SITE);
    }
    return this.principalOf(credential, verified, required);
  }

  /** Returns the user of the session, for public handlers. An invalid session counts as no session. */
  async findSessionUser(request: FastifyRequest): Promise<Principal | undefined> {
    const credential = sessionCredentialOf(request);
    if (!credential) return undefined;
    const verified = await this.verify(credential).catch(() => undefined);
    return verified && this.principalOf(credential, verified, undefined);
  }

  /**
   * True if the token is METRICS_TOKEN, which works even while the database is down. Compares hashes in constant
   * time, so that the response time reveals neither content nor length of the token.
   */
  hasMetricsToken(request: FastifyRequest): boolean {
    const credential = credentialOf(request);
    return (
      this.metricsHash !== undefined &&
      credential?.kind === 'bearer' &&
      timingSafeEqual(this.metricsHash, hashOf(credential.token))
    );
  }

  /** Rejects a request without METRICS_TOKEN if the token is set. Requests with the token are never limited. */
  async requireMetricsToken(request: FastifyRequest): Promise<void> {
    if (this.metricsHash === undefined || this.hasMetricsToken(request)) return;
    const error =
      (await this.tooManyFailures('metrics_token', request)) ??
      new UnauthorizedError('METRICS_TOKEN is required as a bearer token.');
    throw credentialOf(request) ? unknownKey(error) : error;
  }

  private verify({ kind, token }: Credential): Promise<VerifiedCredential | undefined> {
    return kind === 'bearer'
      ? this.verification.verifyKey(token)
      : this.verification.verifySession(token);
  }

  /** The credential was read up to 1 s ago. Each writing transaction of the principal reads the credential again. */
  private principalOf(
    credential: Credential,
    { identity }: VerifiedCredential,
    requiredRole: Role | undefined,
  ): Principal {
    const principal: Principal & { role: Role } = {
      ...identity,
      requiredRole,
      requireStillValid: async () => {
        if (!(await this.verify(credential))) throw new UnauthorizedError();
      },
      begin: async (tx) => {
        const role = await this.repository.findRole(tx, identity);
        if (!role) throw new UnauthorizedError();
        principal.role = role;
        if (requiredRole) requireRole(principal, requiredRole);
      },
    };
    return principal;
  }

  /** Counts a failure. Returns an error if the address is over the limit. */
  private async tooManyFailures(kind: 'key' | 'metrics_token', request: FastifyRequest) {
    const wait = await this.failures.record(kind, request.ip);
    const what = kind === 'key' ? 'failed keys' : 'wrong metrics tokens';
    return wait === undefined ? undefined : new TooManyFailuresError(what, wait);
  }
}

/** First guard: an unknown caller learns nothing and costs little. Handlers without an access rule are closed. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(private readonly authentication: Authentication) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const access = accessOf(context);
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
 * Runs after the guards that check the request itself, so that an invalid request is rejected before a missing
 * permission.
 */
@Injectable()
export class RoleGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(context);
    const required = access && requiredRole(access);
    if (!required) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = request.caller as Principal | undefined;
    if (!caller) throw new UnauthorizedError();
    requireRole(caller, required);
    return true;
  }
}

function unknownKey(told: AppError): StrangerRefusedError {
  return new StrangerRefusedError({ action: 'auth.key_refused' }, told);
}

const SESSION_COOKIE = 'its_session';
/**
 * Browsers accept a cookie with this prefix only over https and only from this host, so no other host can plant one.
 */
const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;

export function sessionTokenOf(request: FastifyRequest): string | undefined {
  return request.cookies[cookieName(request)];
}

/** The cookie lasts until the browser closes. The server ends the session independently. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
): void {
  void reply.setCookie(cookieName(request), token, options(request));
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  void reply.clearCookie(cookieName(request), options(request));
}

function cookieName(request: FastifyRequest): string {
  return isSecure(request) ? SECURE_SESSION_COOKIE : SESSION_COOKIE;
}

function options(request: FastifyRequest) {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure(request) } as const;
}

/** A trusted proxy reports the protocol: see TRUST_PROXY. */
function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https';
}
