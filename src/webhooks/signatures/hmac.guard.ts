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
import { StrangerRefusedError, TooManyFailuresError } from '../../auth/auth.errors.js';
import { AppError, toAppError } from '../../platform/errors/app-error.js';
import { ERROR_CATALOGUE } from '../../platform/errors/error-catalogue.js';
import { FailureLimits } from '../../platform/limits/failure-limits.js';
import { LimitCounter, type NamedLimit } from '../../platform/limits/limits.js';
import { isLines } from '../reading/event-json.js';
import { SourceDirectory } from '../sources/source-directory.js';
import type { ReceivingSource, WebhookSource } from '../sources/webhook-source.entity.js';
import {
  messageName,
  signatureHeaders,
  type SignatureProblem,
  signatureProblem,
} from './signature-rules.js';

type ReceiptProblem = SignatureProblem | 'unknown_source';

/** A receipt without a valid signature. Its message reveals nothing beyond the code. */
export class RefusedReceiptError extends StrangerRefusedError {
  constructor(problem: ReceiptProblem, source: string | undefined, retryAfterSeconds?: number) {
    super(
      {
        action: 'webhook.refused',
        subject: { type: 'webhook_source', id: source ?? 'unknown' },
        details: { reason: problem },
      },
      retryAfterSeconds === undefined
        ? new AppError(problem, ERROR_CATALOGUE[problem].meaning)
        : new TooManyFailuresError('refused webhook receipts', retryAfterSeconds),
    );
  }
}

/** Stands in for an unknown source, so that its refusal takes the same time. */
const NOBODY: Pick<ReceivingSource, 'source' | 'signature' | 'secrets'> = {
  source: '',
  signature: 'timestamped',
  secrets: [{ value: randomBytes(32).toString('base64url') }],
};

/** Limit of repetitions of one message: more than any sender retries within a minute. */
const REPETITIONS = { name: 'webhook_repetition', perMinute: 60 };

/**
 * Authenticates handlers with `@Allow('signature')`. Errors have this order: 404, 413, 401, 429, 400. Nothing is parsed before the
 * signature is verified.
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
      if (!source) return await this.refuseUnknown(request);
      const bytes = await this.bodyOf(request);
      const problem = this.problemOf(source, request, bytes);
      if (problem) return await this.refuse(problem, source, request);
      await this.accept(request, reply, source, bytes);
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

  /** Takes as long as a wrong signature, so that the time does not reveal which sources exist. */
  private async refuseUnknown(request: FastifyRequest): Promise<never> {
    const bytes = await this.bodyOf(request).catch(() => Buffer.alloc(0));
    this.problemOf(NOBODY, request, bytes);
    return await this.refuse('unknown_source', undefined, request);
  }

  private async bodyOf({ arriving }: FastifyRequest): Promise<Buffer> {
    if (!arriving) return Buffer.alloc(0);
    return await arriving.read(this.settings.bodyLimitBytes, 'stranger');
  }

  private problemOf(
    { source, signature, secrets }: typeof NOBODY,
    request: FastifyRequest,
    body: Buffer,
  ): SignatureProblem | undefined {
    const message = { source, headers: signatureHeaders(request.raw.rawHeaders), body };
    return signatureProblem(signature, secrets, message, this.clock.now());
  }

  /** Counts the refusal for the address only, so that a stranger cannot use up the limit of a source. */
  private async refuse(
    problem: ReceiptProblem,
    source: ReceivingSource | undefined,
    { ip }: FastifyRequest,
  ): Promise<never> {
    const wait = await this.failures.record('webhook', ip);
    throw new RefusedReceiptError(problem, source?.source, wait);
  }

  /** Returns false for a repetition. A captured message that is replayed must not use up the limit of its source. */
  private async isNew(
    { source, signature }: WebhookSource,
    request: FastifyRequest,
    body: Buffer,
  ): Promise<boolean> {
    const headers = signatureHeaders(request.raw.rawHeaders);
    const message = messageName(signature, { source, headers, body });
    return message === undefined || this.counter.isFirst(REPETITIONS, `${source} ${message}`);
  }

  private async accept(
    request: FastifyRequest,
    reply: FastifyReply,
    { secrets: _, ...source }: ReceivingSource,
    bytes: Buffer,
  ): Promise<void> {
    const isRepetition = !(await this.isNew(source, request, bytes));
    const limit = webhookLimit(this.settings);
    await this.counter.charge(limit, accountOf(source, isRepetition), reply);
    requireUncompressed(request);
    request.received = bytes;
    request.verifiedReceipt = {
      source,
      bytes,
      isRepetition,
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

/** A body whose signature is valid. */
export interface VerifiedReceipt {
  readonly source: WebhookSource;
  /** Exact bytes of the body. */
  readonly bytes: Buffer;
  /** The same message was received within the last minute. It counts as a repetition. */
  readonly isRepetition: boolean;
  /** Its content type says that each line is JSON. */
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

/** Rate limit of the events of a source. The guard charges one event before it parses the body. */
export function webhookLimit({ rateLimitWebhook }: Settings): NamedLimit {
  return { name: 'webhook', perMinute: rateLimitWebhook };
}

/** Repetitions have a separate account, so that replaying a captured message cannot use up the limit of its source. */
export function accountOf(
  { source }: Pick<WebhookSource, 'source'>,
  isRepetition: boolean,
): string {
  return `${isRepetition ? 'repeated' : 'source'} ${source}`;
}
