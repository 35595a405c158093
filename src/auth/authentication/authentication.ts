import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Role } from '../../platform/access/roles.js';
import { FailureLimits } from '../../platform/limits/failure-limits.js';
import { CrossOriginError, TooManyFailuresError, UnauthorizedError } from '../auth.errors.js';
import { AuthenticatedPrincipal } from '../principals/authenticated-principal.js';
import { PrincipalsRepository } from '../principals/principals.repository.js';
import { CredentialVerification } from './credential-verification.js';
import type { VerifiedCredential } from '../principals/verified-credential.js';
import { Refusals } from '../refusals/refusals.js';
import { type Credential, credentialOf, sessionCredentialOf } from './credentials.js';
import { isUnsafeMethod, originOf } from '../guards/same-origin.js';

/** Finds out who makes a request. */
@Injectable()
export class Authentication {
  constructor(
    private readonly verification: CredentialVerification,
    private readonly repository: PrincipalsRepository,
    private readonly failures: FailureLimits,
    private readonly refusals: Refusals,
  ) {}

  /** The principal of a request that needs one. */
  async requirePrincipal(
    request: FastifyRequest,
    role: Role | undefined,
  ): Promise<AuthenticatedPrincipal> {
    const credential = credentialOf(request);
    if (!credential) throw new UnauthorizedError();
    const verified = await this.verify(credential);
    if (!verified) return await this.refuse(request, credential);
    if (credential.kind === 'session' && isUnsafeMethod(request) && originOf(request) !== 'same') {
      await this.refusals.crossOrigin(verified.name, request);
      throw new CrossOriginError();
    }
    return this.principal(verified, role);
  }

  /** Whose session it is, where nobody in particular is needed; an address that is open to all does not fail over it. */
  async findSessionUser(request: FastifyRequest): Promise<AuthenticatedPrincipal | undefined> {
    const credential = sessionCredentialOf(request);
    if (!credential) return undefined;
    const verified = await this.verify(credential).catch(() => undefined);
    return verified && this.principal(verified, undefined);
  }

  private verify(credential: Credential): Promise<VerifiedCredential | undefined> {
    if (credential.kind === 'bearer') return this.verification.verifyKey(credential.token);
    if (credential.kind === 'session') return this.verification.verifySession(credential.token);
    return Promise.resolve(undefined);
  }

  private principal(verified: VerifiedCredential, role: Role | undefined): AuthenticatedPrincipal {
    return new AuthenticatedPrincipal(verified, role, (tx, who) =>
      this.repository.findRole(tx, who),
    );
  }

  /** Whoever brings METRICS_TOKEN never gets here, and so is never refused for what others tried. */
  async refuseMetrics(request: FastifyRequest): Promise<never> {
    const wait = await this.failures.record('metrics_token', request.ip);
    if (credentialOf(request)) this.refusals.key(request);
    if (wait !== undefined) throw new TooManyFailuresError('wrong metrics tokens', wait);
    throw new UnauthorizedError('METRICS_TOKEN is required as a bearer token.');
  }

  /** A session that has ended is no attempt to guess one: it is not counted. */
  private async refuse(request: FastifyRequest, credential: Credential): Promise<never> {
    if (credential.kind !== 'session') {
      const wait = await this.failures.record('key', request.ip);
      this.refusals.key(request);
      if (wait !== undefined) throw new TooManyFailuresError('failed keys', wait);
    }
    throw new UnauthorizedError();
  }
}
