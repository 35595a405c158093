import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import '../http/request.js';
import { Transactions } from '../database/transactions.js';
import { SecretBox } from '../secrets/secret-box.js';
import './answer-once.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import { identityOf } from './identity.js';
import { AnsweredBefore } from './kept-answer.js';
import { type OnceTools, RequestOnce } from './request-once.js';

/** Lets a request with an Idempotency-Key through once; what is kept, and answered again, is the text that the client saw. */
@Injectable()
export class OnceGuard implements CanActivate {
  private readonly tools: OnceTools;

  constructor(keys: IdempotencyRepository, transactions: Transactions, secrets: SecretBox) {
    this.tools = { keys, transactions, secrets };
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const key = request.headers['idempotency-key'];
    const { caller } = request;
    if (typeof key !== 'string' || request.method !== 'POST' || !caller) return true;
    const identity = identityOf(request, caller.name, key);
    const reply = http.getResponse<FastifyReply>();
    return this.begin(request, new RequestOnce(this.tools, identity, () => reply.statusCode));
  }

  private async begin(request: FastifyRequest, once: RequestOnce): Promise<boolean> {
    const earlier = await once.earlierAnswer();
    if (earlier) throw new AnsweredBefore(earlier);
    request.once = once;
    request.settleAnswer = (answer) => once.answer(answer);
    return true;
  }
}
