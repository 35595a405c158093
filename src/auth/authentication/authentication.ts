import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Role } from '../../platform/access/roles.js';
import { FailureLimits } from '../../platform/limits/failure-limits.js';
import {
  CrossOriginSessionError,
  TooManyFailuresError,
  UnauthorizedError,
  UnknownKeyError,
} from '../auth.errors.js';
import { isUnsafeMethod, originOf } from '../guards/same-origin-rules.js';
import { AuthenticatedPrincipal } from '../principals/authenticated-principal.js';
import { PrincipalsRepository } from '../principals/principals.repository.js';
import type { VerifiedCredential } from '../principals/verified-credential.js';
import { CredentialVerification } from './credential-verification.js';
import { type Credential, credentialOf, sessionCredentialOf } from './credentials.js';

/** Finds out who makes a request. */
@Injectable()
export class Authentication {
  constructor(
    private readonly verification: CredentialVerification,
    private readonly repository: PrincipalsRepository,
    private readonly failures: FailureLimits,
  ) {}

  /** Whoever makes a request that nobody may make unknown. */
  async requirePrincipal(
    request: FastifyRequest,
    required: Role | undefined,
  ): Promise<AuthenticatedPrincipal> {
    const credential = credentialOf(request);
    if (!credential) throw new UnauthorizedError();
    const verified = await this.verify(credential);
    if (!verified) return await this.refuse(request, credential);
    // A browser sends the cookie with what a page of another site asks for, too.
    const mayBeForged = credential.kind === 'session' && isUnsafeMethod(request);
    if (mayBeForged && originOf(request) !== 'same') {
      throw new CrossOriginSessionError(verified.name);
    }
    return this.principalOf(verified, required);
  }

  /** The user of the session, where anybody may call. A session that cannot be verified counts as none. */
  async findSessionUser(request: FastifyRequest): Promise<AuthenticatedPrincipal | undefined> {
    const credential = sessionCredentialOf(request);
    if (!credential) return undefined;
    const verified = await this.verify(credential).catch(() => undefined);
    return verified && this.principalOf(verified, undefined);
  }

  /** For who has not brought METRICS_TOKEN. Who brings it never gets here: it works whatever others have tried. */
  async refuseMetrics(request: FastifyRequest): Promise<never> {
    const wait = await this.failures.record('metrics_token', request.ip);
    const error =
      wait === undefined
        ? new UnauthorizedError('METRICS_TOKEN is required as a bearer token.')
        : new TooManyFailuresError('wrong metrics tokens', wait);
    throw credentialOf(request) ? new UnknownKeyError(error) : error;
  }

  private async verify(credential: Credential): Promise<VerifiedCredential | undefined> {
    if (credential.kind === 'bearer') return await this.verification.verifyKey(credential.token);
    if (credential.kind === 'session') {
      return await this.verification.verifySession(credential.token);
    }
    return undefined;
  }

  private principalOf(
    verified: VerifiedCredential,
    required: Role | undefined,
  ): AuthenticatedPrincipal {
    return new AuthenticatedPrincipal(verified, required, (tx, credential) =>
      this.repository.findRole(tx, credential),
    );
  }

  /** A session that has ended was not guessed: it does not count as a failure. */
  private async refuse(request: FastifyRequest, credential: Credential): Promise<never> {
    if (credential.kind === 'session') throw new UnauthorizedError();
    const wait = await this.failures.record('key', request.ip);
    throw new UnknownKeyError(
      wait === undefined ? new UnauthorizedError() : new TooManyFailuresError('failed keys', wait),
    );
  }
}
