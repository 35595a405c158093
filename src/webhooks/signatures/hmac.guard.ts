import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { Counter } from 'prom-client';
import { DeclaredAccess } from '../../platform/access/declared-access.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { AppError } from '../../platform/errors/app-error.js';
import type { ErrorCode } from '../../platform/errors/error-catalogue.js';
import { toAppError } from '../../platform/errors/to-app-error.js';
import { Stranger } from '../../platform/http/body-memory.js';
import '../../platform/http/request.js';
import { FailureLimits } from '../../platform/limits/failure-limits.js';
import { LimitCounter } from '../../platform/limits/limit-counter.js';
import { SourceDirectory } from '../sources/source-directory.js';
import {
  type ReceivingSource,
  SOURCE_NAME,
  type WebhookSource,
} from '../sources/webhook-source.js';
import { signatureHeaders } from './signature-headers.js';
import { keyOfSource, webhookLimit } from './webhook-limit.js';
import { messageName, type SignatureProblem, signatureProblem } from './signature-rules.js';
import { type ReceiptProblem, RefusedReceiptError } from './signature.errors.js';
import './verified-receipt.js';

/** In place of a source that does not exist, so that the same work is done for it. */
const NOBODY: Pick<ReceivingSource, 'signature' | 'secrets'> = {
  signature: 'timestamped',
  secrets: [{ value: randomBytes(32).toString('base64url') }],
};

/** Of one message: more than any sender tries again within a minute. */
const REPETITIONS = { name: 'webhook_repetition', perMinute: 60 };

/**
 * The authentication of handlers with `@Allow('signature')`. Its sender learns in this order what is wrong: 404, 413,
 * 401, 429, 400. Until the signature is verified a receipt costs a bounded body and its digest, and nothing is parsed.
 */
@Injectable()
export class HmacGuard implements CanActivate {
  constructor(
    private readonly access: DeclaredAccess,
    private readonly sources: SourceDirectory,
    private readonly failures: FailureLimits,
    private readonly counter: LimitCounter,
    private readonly settings: Settings,
    private readonly clock: Clock,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (this.access.of(context) !== 'signature') return true;
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
      const name = source?.source ?? this.nameBefore(request, code) ?? 'other';
      this.errors.inc({ source: name, code });
      throw error;
    }
  }

  /** While the database is away: of a source that was there the last time somebody could look. */
  private nameBefore(request: FastifyRequest, code: ErrorCode): string | undefined {
    const name = nameIn(request);
    return code === 'service_unavailable' && this.sources.wasEnabled(name) ? name : undefined;
  }

  private async sourceOf(request: FastifyRequest): Promise<ReceivingSource | undefined> {
    const name = nameIn(request);
    const source = SOURCE_NAME.test(name) ? await this.sources.find(name) : undefined;
    return source?.enabled ? source : undefined;
  }

  /** Takes as long as a wrong signature, so that the time does not tell why there is no such source. */
  private async refuseUnknown(request: FastifyRequest): Promise<never> {
    const bytes = await this.bodyOf(request).catch(() => Buffer.alloc(0));
    this.problemOf(NOBODY, request, bytes);
    return await this.refuse('unknown_source', undefined, request);
  }

  private async bodyOf({ arriving, ip }: FastifyRequest): Promise<Buffer> {
    if (!arriving) return Buffer.alloc(0);
    return await arriving.read(this.settings.bodyLimitBytes, Stranger.at(ip));
  }

  private problemOf(
    { signature, secrets }: typeof NOBODY,
    request: FastifyRequest,
    body: Buffer,
  ): SignatureProblem | undefined {
    const message = { headers: signatureHeaders(request.raw.rawHeaders), body };
    return signatureProblem(signature, secrets, message, this.clock.now());
  }

  /** Counted for the address only: nobody can keep a source from being heard. */
  private async refuse(
    problem: ReceiptProblem,
    source: ReceivingSource | undefined,
    { ip }: FastifyRequest,
  ): Promise<never> {
    const wait = await this.failures.record('webhook', ip);
    throw new RefusedReceiptError(problem, source?.source, wait);
  }

  /** A message that somebody caught and sends over and over must not use up the limit of its source. */
  private async isNew(
    { source, signature }: WebhookSource,
    request: FastifyRequest,
    body: Buffer,
  ): Promise<boolean> {
    const headers = signatureHeaders(request.raw.rawHeaders);
    const message = messageName(signature, { headers, body });
    return message === undefined || this.counter.isFirst(REPETITIONS, `${source} ${message}`);
  }

  private async accept(
    request: FastifyRequest,
    reply: FastifyReply,
    { secrets: _, ...source }: ReceivingSource,
    bytes: Buffer,
  ): Promise<void> {
    const isRepetition = !(await this.isNew(source, request, bytes));
    if (!isRepetition) {
      const limit = webhookLimit(this.settings);
      await this.counter.charge(limit, keyOfSource(source), reply);
    }
    requireUncompressed(request);
    request.arriving?.assignTo(`webhook:${source.source}`);
    request.received = bytes;
    request.verifiedReceipt = { source, bytes, isRepetition };
  }
}

function nameIn({ params }: FastifyRequest): string {
  return (params as { readonly source?: string }).source ?? '';
}

/** A small body could become any size. */
function requireUncompressed({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  throw new AppError('bad_request', 'The body must be sent as it is, without Content-Encoding.');
}
