import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import '../http/request.js';
import { LimitCounter } from './limit-counter.js';
import type { LimitStorage } from './limit-storage.js';
import { RequestLimits } from './request-limits.js';

/**
 * Comes after authentication, so that a principal has one count whatever it calls and from wherever, and nobody can be
 * charged with what a stranger sends. What throws later, throws with the headers already set.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: LimitStorage,
    reflector: Reflector,
    private readonly limits: RequestLimits,
    private readonly counter: LimitCounter,
  ) {
    super(options, storage, reflector);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const limit = this.limits.limitOf(context, request);
    if (!limit) return true;
    const reply = http.getResponse<FastifyReply>();
    if (request.caller) await this.counter.charge(limit, `principal ${request.caller.name}`, reply);
    else await this.counter.chargeAddress(limit, request.ip, reply);
    return true;
  }
}
