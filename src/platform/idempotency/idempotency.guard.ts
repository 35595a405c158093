import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import '../http/request.js';
import { SecretBox } from '../secrets/secret-box.js';
import './idempotent.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import { identityOf } from './request-identity.js';
import { AnsweredBefore, type IdempotencyTools, IdempotentRequest } from './idempotent-request.js';

/** Lets a request with an Idempotency-Key have its effect once. A repeated request gets the very text of the first answer. */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  private readonly tools: IdempotencyTools;

  constructor(keys: IdempotencyRepository, secrets: SecretBox) {
    this.tools = { keys, secrets };
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const key = request.headers['idempotency-key'];
    const { caller } = request;
    if (typeof key !== 'string' || request.method !== 'POST' || !caller) return true;
    const identity = identityOf(request, caller.name, key);
    const reply = http.getResponse<FastifyReply>();
    return this.begin(request, new IdempotentRequest(this.tools, identity, () => reply.statusCode));
  }

  private async begin(request: FastifyRequest, idempotency: IdempotentRequest): Promise<boolean> {
    const earlier = await idempotency.earlierAnswer();
    if (earlier) throw new AnsweredBefore(earlier);
    request.idempotency = idempotency;
    request.completeAnswer = (answer) => idempotency.answer(answer);
    return true;
  }
}
