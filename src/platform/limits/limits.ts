import { type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accessOf, requiredRole } from '../access/access.js';
import { networkOf } from '../addresses/network.js';
import { presentTime } from '../clock.js';
import type { Caller, LimitClass } from '../http/request.js';
import { Settings } from '../config/settings.js';
import { AppError } from '../errors/app-error.js';
import '../http/request.js';
import { type LimitRecord, LimitStorage } from './limit-storage.js';

const MINUTE = 60_000;

export interface NamedLimit {
  readonly name: string;
  readonly perMinute: number;
}

/** Logins and logouts, which are open to everybody, have their own counters, so that logouts never block logins. */
export type Limited = LimitClass | 'login' | 'logout' | NamedLimit;

/** Maximum requests per minute and address to handlers that are open to everybody. Excludes callers with a session. */
export const STRANGERS_PER_MINUTE = 60;

const LIMITED = Symbol('limited');

/** Default: `read` or `write`, by method. Strangers count by address. */
export const Limited = (limit: Limited) => SetMetadata(LIMITED, limit);

export const INTEGRATION_LIMITS = { read: 600, write: 300 } as const;

const keyOf = (address: string) => `address ${networkOf(address)}`;

@Injectable()
export class LimitCounter {
  constructor(private readonly storage: LimitStorage) {}

  /** Counts a request, sets the headers, and rejects a request over the limit. A limit of 0 means no limit. */
  async charge({ name, perMinute }: NamedLimit, key: string, reply: FastifyReply): Promise<void> {
    if (perMinute === 0) return;
    settle(perMinute, await this.storage.increment(key, MINUTE, perMinute, MINUTE, name), reply);
  }

  /** Charges further hits of an accepted request, such as the events in its body. Never rejects the request. */
  async add({ name, perMinute }: NamedLimit, key: string, hits: number): Promise<void> {
    if (perMinute === 0 || hits === 0) return;
    await this.storage.increment(key, MINUTE, Number.MAX_SAFE_INTEGER, MINUTE, name, hits);
  }

  /** Returns true for the first copy. Rejects copies over the limit, because a third party may replay the message. */
  async isFirst({ name, perMinute }: NamedLimit, message: string): Promise<boolean> {
    const state = await this.storage.increment(message, MINUTE, perMinute, MINUTE, name);
    settle(perMinute, state);
    return state.totalHits === 1;
  }
}

function settle(
  perMinute: number,
  { totalHits, timeToExpire, isBlocked }: LimitRecord,
  reply?: FastifyReply,
): void {
  void reply?.headers({
    'x-ratelimit-limit': String(perMinute),
    'x-ratelimit-remaining': String(Math.max(0, perMinute - totalHits)),
    'x-ratelimit-reset': String(Math.ceil(presentTime() / 1000 + timeToExpire)),
  });
  const message = `At most ${perMinute} of these requests are allowed per minute.`;
  if (isBlocked)
    throw limited(`${message} Retry in ${wholeSeconds(timeToExpire)} s.`, timeToExpire);
}

const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds));

function limited(message: string, timeToExpire: number): AppError {
  const headers = { 'retry-after': String(wholeSeconds(timeToExpire)) };
  return new AppError('rate_limited', message, { headers });
}

/** Runs after authentication: a principal has one counter for all addresses, and never pays for other callers. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: LimitStorage,
    private readonly counter: LimitCounter,
    private readonly settings: Settings,
    reflector: Reflector,
  ) {
    super(options, storage, reflector);
  }

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const { caller, ip, method } = http.getRequest<FastifyRequest>();
    const limit = this.limitOf(context, method, caller);
    if (!limit) return true;
    const key = caller ? `principal ${caller.name}` : keyOf(ip);
    await this.counter.charge(limit, key, http.getResponse<FastifyReply>());
    return true;
  }

  private limitOf(
    context: ExecutionContext,
    method: string,
    caller: Caller | undefined,
  ): NamedLimit | undefined {
    const declared = Reflect.getMetadata(LIMITED, context.getHandler()) as Limited | undefined;
    if (typeof declared === 'object') return declared;
    if (declared === 'login' || declared === 'logout') {
      return caller ? undefined : { name: declared, perMinute: STRANGERS_PER_MINUTE };
    }
    // By default, handlers that require a role are limited. Health, metrics, documents and webhooks are not limited.
    if (!declared && !requiredRole(accessOf(context) ?? 'public')) return undefined;
    const name = declared ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write');
    return { name, perMinute: this.perMinute(name, caller) };
  }

  /** People have higher limits. The class of a key never lowers a configured limit. A limit of 0 means no limit. */
  private perMinute(name: LimitClass, caller: Caller | undefined): number {
    const { rateLimitRead, rateLimitWrite, rateLimitTriage: triage } = this.settings;
    const { rateLimitPersonRead, rateLimitPersonWrite } = this.settings;
    if (caller?.sessionId !== undefined) {
      return { read: rateLimitPersonRead, write: rateLimitPersonWrite, triage }[name];
    }
    const configured = { read: rateLimitRead, write: rateLimitWrite, triage }[name];
    const isRaised = caller?.limit_class === 'integration' && name !== 'triage' && configured > 0;
    const ofClass = isRaised ? Math.max(configured, INTEGRATION_LIMITS[name]) : configured;
    return caller?.limits?.[name] ?? ofClass;
  }
}

const tooMany = (failures: string) => `Too many ${failures} from this address; try again later.`;

/** Maximum failures per minute and address. For an account: of all addresses that its user has not used before. */
export const FAILURES = {
  login: { perMinute: 10, message: tooMany('wrong passwords') },
  key: { perMinute: 60, message: tooMany('failed keys') },
  metrics_token: { perMinute: 60, message: tooMany('wrong metrics tokens') },
  webhook: { perMinute: 60, message: tooMany('refused webhook receipts') },
  account: {
    perMinute: 10,
    message:
      'Too many wrong passwords for this user from new addresses. Try again later, or from an address of an earlier login.',
  },
} as const;
const ACCOUNT_PER_HOUR = 60;
type FailureKind = keyof typeof FAILURES;

/** Checked only after a failure or before a hash, so valid credentials never fail because of other callers. */
@Injectable()
export class FailureLimits {
  constructor(private readonly storage: LimitStorage) {}

  blocked(kind: FailureKind, subject: string): Promise<AppError | undefined> {
    return this.firstBlock(kind, subject, (key, ttl, most, name) =>
      this.storage.peek(key, ttl, most, name),
    );
  }

  /** Over the limit, returns the error to throw, so that parallel guesses reveal no more than sequential guesses. */
  record(kind: FailureKind, subject: string): Promise<AppError | undefined> {
    return this.firstBlock(kind, subject, (key, ttl, most, name) =>
      this.storage.increment(key, ttl, most, ttl, name),
    );
  }

  private async firstBlock(
    kind: FailureKind,
    subject: string,
    ask: (...limit: Parameters<LimitStorage['peek']>) => Promise<LimitRecord>,
  ): Promise<AppError | undefined> {
    const { perMinute, message } = FAILURES[kind];
    const isAccount = kind === 'account';
    const key = isAccount ? subject : keyOf(subject);
    let state = await ask(key, MINUTE, perMinute, `failed_${kind}`);
    if (isAccount && !state.isBlocked) {
      state = await ask(key, 60 * MINUTE, ACCOUNT_PER_HOUR, 'failed_account_hour');
    }
    return state.isBlocked ? limited(message, state.timeToExpire) : undefined;
  }
}
