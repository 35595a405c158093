import '../../platform/http/request.js';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { hash } from 'node:crypto';
import { Counter } from 'prom-client';
import { RefusedError } from '../../auth/principal.js';
import { accessOf } from '../../platform/access/access.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { AppError, toAppError } from '../../platform/errors/app-error.js';
import { meaningOf } from '../../platform/errors/error-catalogue.js';
import { FailureLimits, LimitCounter, type NamedLimit } from '../../platform/limits/limits.js';
import { WebhookSourcesService } from '../sources/webhook-sources.service.js';
import type { ReceivingSource, WebhookSource } from '../sources/webhook-source.entity.js';
import {
  SCHEMES,
  signatureHeaders,
  type SignatureProblem,
  signatureProblem,
} from './signature-rules.js';

export const OKTA_CHALLENGE = 'x-okta-verification-challenge';

/** Excludes markup, because the response repeats the challenge and may be displayed. */
export const CHALLENGE = /^[\w.~+/=-]{1,256}$/;

type Constraints = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>;

/** Selects the handler for requests with a challenge header. The same path has a handler for other requests. */
export const OKTA_CHALLENGE_CONSTRAINT: Constraints = {
  oktaChallenge: {
    name: 'oktaChallenge',
    storage: () => new Map() as never,
    deriveConstraint: ({ headers }) =>
      headers[OKTA_CHALLENGE] === undefined ? 'absent' : 'present',
    mustMatchWhenDerived: false,
  },
};

/** Maximum repetitions of a message per minute. No sender retries a message so often. */
const REPETITIONS = { name: 'webhook_repetition', perMinute: 60 };

/**
 * Authenticates requests to handlers with `@Allow('signature')`. If a request has several errors, the order is 404,
 * 413, 401, 429, 400. Parses nothing before the signature is verified. Failures count only against the IP address of
 * the sender, so that a stranger cannot use up the limit of a source.
 */
@Injectable()
export class HmacGuard implements CanActivate {
  constructor(
    private readonly sources: WebhookSourcesService,
    private readonly failures: FailureLimits,
    private readonly counter: LimitCounter,
    private readonly settings: Settings,
    private readonly clock: Clock,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(context) !== 'signature') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const isChallenge = request.method !== 'POST';
    let source: ReceivingSource | undefined;
    try {
      const { source: name = '' } = request.params as { readonly source?: string };
      const found = await this.sources.find(name);
      source = found?.enabled ? found : undefined;
      // Event hooks of Okta send a fixed header and cannot sign.
      const fitsOkta = source?.signature === 'token' || source?.signature === 'basic';
      if (!source || (isChallenge && !fitsOkta)) {
        return await this.refuse('unknown_source', request, source);
      }
      if (isChallenge) await this.verifyChallenge(request);
      else await this.verify(request, http.getResponse<FastifyReply>(), source);
      return true;
    } catch (error) {
      this.errors.inc({ source: source?.source ?? 'other', code: toAppError(error).code });
      throw error;
    }
  }

  /** The one-time verification of an event hook has no credential, so it counts like a rejected request. */
  private async verifyChallenge({ headers, ip }: FastifyRequest): Promise<void> {
    const limited = await this.failures.record('webhook', ip);
    if (limited) throw limited;
    if (CHALLENGE.test(String(headers[OKTA_CHALLENGE]))) return;
    const message = `${OKTA_CHALLENGE} must be 1 to 256 letters, digits and characters of base64.`;
    throw new AppError('bad_request', message);
  }

  /** Error whose message reveals nothing beyond the code. */
  private async refuse(
    problem: SignatureProblem | 'unknown_source',
    { ip }: FastifyRequest,
    source: ReceivingSource | undefined,
  ): Promise<never> {
    const limited = await this.failures.record('webhook', ip);
    const subject = { type: 'webhook_source', id: source?.source ?? 'unknown' };
    throw new RefusedError(
      { action: 'webhook.refused', subject, details: { reason: problem } },
      limited ?? new AppError(problem, meaningOf(problem)),
    );
  }

  private async verify(request: FastifyRequest, reply: FastifyReply, receiving: ReceivingSource) {
    const { secrets, ...source } = receiving;
    const { source: name, signature } = source;
    const body = (await request.arriving?.read(this.settings.bodyLimitBytes)) ?? Buffer.alloc(0);
    const headers = signatureHeaders(request.raw.rawHeaders);
    const message = { source: name, headers, body };
    const problem = signatureProblem(signature, secrets, message, this.clock.now());
    if (problem) return await this.refuse(problem, request, receiving);
    const body_hash = hash('sha256', body, 'buffer');
    const signedTime = headers.get(SCHEMES[signature].timestampHeader ?? '');
    // Counts repetitions separately, so that a replay of a captured message cannot use up the limit of its source.
    const repeated = `${name} ${signedTime} ${body_hash.toString('base64url')}`;
    const isFirst = !signedTime || (await this.counter.isFirst(REPETITIONS, repeated));
    const account = `${isFirst ? 'source' : 'repeated'} ${name}`;
    const limit = { name: 'webhook', perMinute: this.settings.rateLimitWebhook };
    await this.counter.charge(limit, account, reply);
    // Rejects compressed bodies, because a small body could expand to any size.
    if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      throw new AppError('bad_request', 'The body must not have a Content-Encoding.');
    }
    request.received = body;
    request.verifiedReceipt = { source, body, body_hash, limit, account };
  }
}

export interface VerifiedReceipt {
  readonly source: WebhookSource;
  readonly body: Buffer;
  readonly body_hash: Buffer;
  /** The guard charges one event to this account before the body is parsed. */
  readonly account: string;
  readonly limit: NamedLimit;
}

declare module 'fastify' {
  interface FastifyRequest {
    verifiedReceipt?: VerifiedReceipt;
  }
}
