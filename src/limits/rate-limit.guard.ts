import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../common/errors/app-error.js';
import '../common/http/request.js';
import { wholeSeconds } from './failure-limits.js';
import type { LimitRecord, LimitStorage } from './limit-storage.js';
import { RequestLimits } from './request-limits.js';

const MINUTE = 60_000;

/**
 * Comes after authentication, so that a principal has one count whatever it calls and from wherever, and nobody can be
 * charged with what a stranger sends. What throws later, throws with the headers already set.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() private readonly limitStorage: LimitStorage,
    reflector: Reflector,
    private readonly limits: RequestLimits,
  ) {
    super(options, limitStorage, reflector);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const limit = this.limits.limitOf(context, request);
    if (!limit) return true;
    const state = await this.limitStorage.increment(
      await this.getTracker(request),
      MINUTE,
      limit.perMinute,
      MINUTE,
      limit.name,
    );
    void http.getResponse<FastifyReply>().headers(headersOf(limit.perMinute, state));
    if (state.isBlocked) throw refusal(limit.perMinute, state);
    return true;
  }

  protected override async getTracker(request: FastifyRequest): Promise<string> {
    return request.caller
      ? `principal ${request.caller.name}`
      : `address ${await super.getTracker(request)}`;
  }
}

function headersOf(perMinute: number, { totalHits, timeToExpire }: LimitRecord) {
  return {
    'x-ratelimit-limit': String(perMinute),
    'x-ratelimit-remaining': String(Math.max(0, perMinute - totalHits)),
    'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000 + timeToExpire)),
  };
}

function refusal(perMinute: number, { timeToBlockExpire }: LimitRecord): AppError {
  const seconds = wholeSeconds(timeToBlockExpire);
  return new AppError(
    'rate_limited',
    `No more than ${perMinute} of these requests per minute are allowed; try again in ${seconds} s.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
