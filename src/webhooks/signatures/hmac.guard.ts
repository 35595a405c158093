import '../../platform/http/request.js';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { RefusedError, TooManyFailuresError } from '../../auth/auth.errors.js';
import { accessOf } from '../../platform/access/access.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { AppError, toAppError } from '../../platform/errors/app-error.js';
import { meaningOf } from '../../platform/errors/error-catalogue.js';
import { FailureLimits, LimitCounter, type NamedLimit } from '../../platform/limits/limits.js';
import { SourceDirectory } from '../sources/source-directory.js';
import type { ReceivingSource, WebhookSource } from '../sources/webhook-source.entity.js';
import {
  messageName,
  signatureHeaders,
  type SignatureProblem,
  signatureProblem,
} from './signature-rules.js';

type ReceiptProblem = SignatureProblem | 'unknown_source';

/** The message reveals nothing beyond the code. */
export class RefusedReceiptError extends RefusedError {
  constructor(problem: ReceiptProblem, source: string | undefined, retryAfterSeconds?: number) {
    super(
      {
        action: 'webhook.refused',
        subject: { type: 'webhook_source', id: source ?? 'unknown' },
        details: { reason: problem },
      },
      retryAfterSeconds === undefined
        ? new AppError(problem, meaningOf(problem))
        : new TooManyFailuresError('refused webhook receipts', retryAfterSeconds),
    );
  }
}

/** Limit for repetitions of a message. No sender retries a message so often within a minute. */
const REPETITIONS = { name: 'webhook_repetition', perMinute: 60 };

/**
 * Authenticates requests to handlers with `@Allow('signature')`. Errors have this order: 404, 413, 401, 429, 400. Parses nothing
 * before the signature is verified.
 */
@Injectable()
export class HmacGuard implements CanActivate {
  constructor(
    private readonly sources: SourceDirectory,
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
    let source: ReceivingSource | undefined;
    try {
      const { source: name = '' } = request.params as { readonly source?: string };
      const found = await this.sources.find(name);
      source = found?.enabled ? found : undefined;
      if (!source) return await this.refuse(request, 'unknown_source');
      await this.verify(request, http.getResponse<FastifyReply>(), source);
      return true;
    } catch (error) {
      const { code } = toAppError(error);
      this.errors.inc({ source: source?.source ?? 'other', code });
      throw error;
    }
  }

  /** Counts only for the address, so that a stranger cannot use up the limit of a source. */
  private async refuse(
    { ip }: FastifyRequest,
    problem: ReceiptProblem,
    source?: string,
  ): Promise<never> {
    const wait = await this.failures.record('webhook', ip);
    throw new RefusedReceiptError(problem, source, wait);
  }

  private async verify(
    request: FastifyRequest,
    reply: FastifyReply,
    { secrets, ...source }: ReceivingSource,
  ): Promise<void> {
    const { source: name, signature } = source;
    const body = (await request.arriving?.read(this.settings.bodyLimitBytes)) ?? Buffer.alloc(0);
    const message = { source: name, headers: signatureHeaders(request.raw.rawHeaders), body };
    const problem = signatureProblem(signature, secrets, message, this.clock.now());
    if (problem) await this.refuse(request, problem, name);
    // Counts repetitions separately, so that a replay of a captured message cannot use up the limit of its source.
    const repeated = messageName(signature, message);
    const isFirst = !repeated || (await this.counter.isFirst(REPETITIONS, `${name} ${repeated}`));
    const account = `${isFirst ? 'source' : 'repeated'} ${name}`;
    await this.counter.charge(webhookLimit(this.settings), account, reply);
    // A small compressed body could expand to any size.
    if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      throw new AppError('bad_request', 'The body must not have a Content-Encoding.');
    }
    request.received = body;
    request.verifiedReceipt = { source, bytes: body, account };
  }
}

export interface VerifiedReceipt {
  readonly source: WebhookSource;
  readonly bytes: Buffer;
  /** Account of webhookLimit for the events of this receipt. */
  readonly account: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by HmacGuard. */
    verifiedReceipt?: VerifiedReceipt;
  }
}

/** The guard charges one event before it parses the body. */
export function webhookLimit({ rateLimitWebhook }: Settings): NamedLimit {
  return { name: 'webhook', perMinute: rateLimitWebhook };
}
