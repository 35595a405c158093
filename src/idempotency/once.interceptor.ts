import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { catchError, mergeMap, type Observable, of, throwError } from 'rxjs';
import '../common/http/request.js';
import { Transactions } from '../database/transactions.js';
import { SecretBox } from '../secrets/secret-box.js';
import './answer-once.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import { identityOf } from './identity.js';
import { type Answer, AnsweredBefore } from './kept-answer.js';
import { type OnceTools, RequestOnce } from './request-once.js';

/** Stands outside the envelope: what is kept, and answered again, is the text that the client saw. */
@Injectable()
export class OnceInterceptor implements NestInterceptor {
  private readonly tools: OnceTools;

  constructor(keys: IdempotencyRepository, transactions: Transactions, secrets: SecretBox) {
    this.tools = { keys, transactions, secrets };
  }

  intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const key = request.headers['idempotency-key'];
    const { caller } = request;
    if (typeof key !== 'string' || request.method !== 'POST' || !caller) return next.handle();
    const reply = http.getResponse<FastifyReply>();
    const once = new RequestOnce(
      this.tools,
      identityOf(request, caller.name, key),
      () => reply.statusCode,
    );
    request.once = once;
    return this.handleOnce(once, reply, next);
  }

  private async handleOnce(
    once: RequestOnce,
    reply: FastifyReply,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const earlier = await once.earlierAnswer();
    if (earlier) return of(replay(reply, earlier));
    return next.handle().pipe(
      mergeMap(async (answer: unknown) =>
        send(reply, await once.answer({ status: reply.statusCode, body: JSON.stringify(answer) })),
      ),
      catchError((error: unknown) =>
        error instanceof AnsweredBefore ? of(replay(reply, error.answer)) : throwError(() => error),
      ),
    );
  }
}

function replay(reply: FastifyReply, answer: Answer): string {
  void reply.header('idempotency-replayed', 'true');
  return send(reply, answer);
}

function send(reply: FastifyReply, { status, body }: Answer): string {
  void reply.status(status).type('application/json; charset=utf-8');
  return body;
}
