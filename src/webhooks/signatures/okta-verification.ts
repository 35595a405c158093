import { Injectable } from '@nestjs/common';
import { RouteConstraints } from '@nestjs/platform-fastify';
import type { FastifyServerOptions } from 'fastify';
import { TooManyFailuresError } from '../../auth/auth.errors.js';
import { AppError } from '../../platform/errors/app-error.js';
import { FailureLimits } from '../../platform/limits/limits.js';
import { SourceDirectory } from '../sources/source-directory.js';
import type { SignatureScheme } from '../sources/webhook-source.entity.js';
import { RefusedReceiptError } from './hmac.guard.js';

export const OKTA_CHALLENGE = 'x-okta-verification-challenge';

/** Separate media type in the contract. JSON parsers ignore the parameter. */
export const OKTA_VERIFICATION_TYPE = 'application/json; profile="okta-verification"';

/** Excludes markup, because the response may be displayed. */
export const CHALLENGE = /^[\w.~+/=-]{1,256}$/;

const CONSTRAINT = 'oktaChallenge';

/** Requests without the header have another handler for the same path. */
export const WithOktaChallenge = (): MethodDecorator =>
  RouteConstraints({ [CONSTRAINT]: 'present' });

type Constraints = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>;
type Handlers = ReturnType<Constraints[string]['storage']>;
type Handler = Parameters<Handlers['set']>[1];

export const OKTA_CHALLENGE_CONSTRAINT: Constraints = {
  [CONSTRAINT]: {
    name: CONSTRAINT,
    storage: () => {
      const handlers = new Map<string, Handler>();
      return {
        get: (value) => handlers.get(value) ?? null,
        set: (value, handler) => void handlers.set(value, handler),
      };
    },
    deriveConstraint: ({ headers }) =>
      headers[OKTA_CHALLENGE] === undefined ? 'absent' : 'present',
    mustMatchWhenDerived: false,
  },
};

/** Event hooks of Okta send a fixed header and cannot sign. */
const SCHEMES_OF_OKTA: readonly SignatureScheme[] = ['token', 'basic'];

/** The one-time verification of an event hook has no credential, so it counts for the address, like a refused receipt. */
@Injectable()
export class OktaVerification {
  constructor(
    private readonly sources: SourceDirectory,
    private readonly failures: FailureLimits,
  ) {}

  async answer(name: string, challenge: string, address: string): Promise<string> {
    const source = await this.sources.find(name);
    const wait = await this.failures.record('webhook', address);
    if (!source?.enabled || !SCHEMES_OF_OKTA.includes(source.signature)) {
      throw new RefusedReceiptError('unknown_source', source?.source, wait);
    }
    if (wait !== undefined) throw new TooManyFailuresError('webhook verifications', wait);
    if (CHALLENGE.test(challenge)) return challenge;
    const message = `${OKTA_CHALLENGE} must be 1 to 256 letters, digits and characters of base64.`;
    throw new AppError('bad_request', message);
  }
}
