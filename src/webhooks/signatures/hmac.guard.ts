import '../../platform/http/request.js';
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { Counter } from 'prom-client';
import { accessOf } from '../../platform/access/access.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { RefusedError, TooManyFailuresError } from '../../auth/auth.errors.js';
import { AppError, toAppError } from '../../platform/errors/app-error.js';
import { meaningOf } from '../../platform/errors/error-catalogue.js';
import { LimitCounter, type NamedLimit, FailureLimits } from '../../platform/limits/limits.js';
import { isLines } from '../reading/event-json.js';
import { SourceDirectory } from '../sources/source-directory.js';
import type { ReceivingSource, WebhookSource } from '../sources/webhook-source.entity.js';
import {
  messageName,
  signatureHeaders,
  type SignatureProblem,
  signatureProblem,
  type SignedMessage,
} from './signature-rules.js';

type ReceiptProblem = SignatureProblem | 'unknown_source';

/** Refusal of a receipt without a valid signature. The message reveals nothing beyond the code. */
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

/** Replaces an unknown source, so that its refusal takes the same time. */
const NOBODY: Pick<ReceivingSource, 'source' | 'signature' | 'secrets'> = {
  source: '',
  signature: 'timestamped',
  secrets: [{ value: randomBytes(32).toString('base64url') }],
};

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

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (accessOf(context) !== 'signature') return true;
    const http = context.switchToHttp();
    return this.admit(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<true> {
    let source: ReceivingSource | undefined;
    try {
      source = await this.sourceOf(request);
      const reading = this.bodyOf(request);
      const bytes = source ? await reading : await reading.catch(() => Buffer.alloc(0));
      const headers = signatureHeaders(request.raw.rawHeaders);
      // Verifies even for an unknown source, so that the response time does not reveal which sources exist.
      const { signature, secrets, source: name } = source ?? NOBODY;
      const message = { source: name, headers, body: bytes };
      const problem = signatureProblem(signature, secrets, message, this.clock.now());
      if (!source || problem) {
        // Counts only for the address, so that a stranger cannot use up the limit of a source.
        const wait = await this.failures.record('webhook', request.ip);
        throw new RefusedReceiptError(source ? problem! : 'unknown_source', source?.source, wait);
      }
      await this.accept(request, reply, source, message);
      return true;
    } catch (error) {
      const { code } = toAppError(error);
      this.errors.inc({ source: source?.source ?? 'other', code });
      throw error;
    }
  }

  private async sourceOf(request: FastifyRequest): Promise<ReceivingSource | undefined> {
    const { source: name = '' } = request.params as { readonly source?: string };
    const source = await this.sources.find(name);
    return source?.enabled ? source : undefined;
  }

  private async bodyOf({ arriving }: FastifyRequest): Promise<Buffer> {
    return (await arriving?.read(this.settings.bodyLimitBytes)) ?? Buffer.alloc(0);
  }

  private async accept(
    request: FastifyRequest,
    reply: FastifyReply,
    { secrets: _, ...source }: ReceivingSource,
    message: SignedMessage,
  ): Promise<void> {
    // Counts repetitions separately, so that a replay of a captured message cannot use up the limit of its source.
    const { source: name, signature } = source;
    const repeated = messageName(signature, message);
    const isFirst =
      repeated === undefined || (await this.counter.isFirst(REPETITIONS, `${name} ${repeated}`));
    const account = `${isFirst ? 'source' : 'repeated'} ${name}`;
    await this.counter.charge(webhookLimit(this.settings), account, reply);
    requireUncompressed(request);
    request.received = message.body;
    request.verifiedReceipt = {
      source,
      bytes: message.body,
      account,
      isLines: isLines(request.headers['content-type']),
    };
  }
}

/** Rejects compressed bodies, because a small body could expand to any size. */
function requireUncompressed({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  throw new AppError('bad_request', 'The body must be sent as it is, without Content-Encoding.');
}

export interface VerifiedReceipt {
  readonly source: WebhookSource;
  readonly bytes: Buffer;
  /** Account of webhookLimit for the events of this receipt. */
  readonly account: string;
  readonly isLines: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    verifiedReceipt?: VerifiedReceipt;
  }
}

/** Injects the receipt that HmacGuard verified into a handler with `@Allow('signature')`. */
export const Verified = createParamDecorator(
  (_: unknown, context: ExecutionContext): VerifiedReceipt => {
    const { verifiedReceipt } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!verifiedReceipt) throw new Error('The signature of this request was not verified.');
    return verifiedReceipt;
  },
);

/** Returns the rate limit for events of a source. The guard charges one event before it parses the body. */
export function webhookLimit({ rateLimitWebhook }: Settings): NamedLimit {
  return { name: 'webhook', perMinute: rateLimitWebhook };
}
