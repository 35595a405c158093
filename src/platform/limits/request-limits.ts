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
import { ACCESS, type Access } from '../access/access.js';
import { ROLES } from '../access/roles.js';
import type { Caller, KeyLimitClass, LimitClass } from '../http/caller.js';
import { Settings } from '../config/settings.js';
import '../http/request.js';
import { LimitCounter, type NamedLimit } from './limit-counter.js';
import type { LimitStorage } from './limit-storage.js';

export type Limited = LimitClass | 'none' | OpenLimit | NamedLimit;

/** Handlers open to everybody. Each has its own counter, so that logouts never block logins. */
type OpenLimit = 'login' | 'logout';

/** Limit of these handlers per minute and address. Callers with a session are not limited. */
export const STRANGERS_PER_MINUTE = 60;

const LIMITED = Symbol('limited');

/**
 * Declares the limit of a handler. Default: read or write by its method. `none` is for handlers that charge
 * LimitCounter themselves, `login` and `logout` for handlers open to everybody. Requests without a principal count by
 * address.
 */
export const Limited = (limit: Limited) => SetMetadata(LIMITED, limit);

/** Requests per minute of keys of the class `integration`. */
export const INTEGRATION_LIMITS = { read: 600, write: 300 } as const;

/** Determines the limit of a request. */
@Injectable()
export class RequestLimits {
  private readonly declared = new WeakMap<object, Limited | 'by method'>();
  private readonly configured: Readonly<Record<LimitClass, number>>;
  /** Web pages of people send more requests than programs. */
  private readonly ofPersons: Readonly<Record<LimitClass, number>>;

  constructor(
    private readonly reflector: Reflector,
    settings: Settings,
  ) {
    this.configured = {
      read: settings.rateLimitRead,
      write: settings.rateLimitWrite,
      triage: settings.rateLimitTriage,
    };
    this.ofPersons = {
      ...this.configured,
      read: settings.rateLimitPersonRead,
      write: settings.rateLimitPersonWrite,
    };
  }

  limitOf(context: ExecutionContext, request: FastifyRequest): NamedLimit | undefined {
    const declared = this.declarationOf(context);
    if (declared === 'none') return undefined;
    if (declared === 'login' || declared === 'logout') {
      return request.caller ? undefined : { name: declared, perMinute: STRANGERS_PER_MINUTE };
    }
    if (typeof declared === 'object') return declared.perMinute > 0 ? declared : undefined;
    const name = declared === 'by method' ? classOf(request.method) : declared;
    const perMinute = this.perMinute(name, request.caller);
    return perMinute > 0 ? { name, perMinute } : undefined;
  }

  private perMinute(name: LimitClass, caller: Caller | undefined): number {
    if (caller?.sessionId !== undefined) return this.ofPersons[name];
    return caller?.limits?.[name] ?? this.ofClass(name, caller?.limitClass);
  }

  /** A class never lowers the configured limit. A configured 0 means no limit. */
  private ofClass(name: LimitClass, limitClass: KeyLimitClass | undefined): number {
    const configured = this.configured[name];
    if (limitClass !== 'integration' || name === 'triage' || configured === 0) return configured;
    return Math.max(configured, INTEGRATION_LIMITS[name]);
  }

  private declarationOf(context: ExecutionContext): Limited | 'by method' {
    const handler = context.getHandler();
    let declared = this.declared.get(handler);
    if (!declared) {
      declared = this.read(context);
      this.declared.set(handler, declared);
    }
    return declared;
  }

  /** Without a declaration, handlers with a role are limited; health, metrics, documents and receipts are not. */
  private read(context: ExecutionContext): Limited | 'by method' {
    const targets = [context.getHandler(), context.getClass()];
    const declared = this.reflector.getAllAndOverride<Limited | undefined>(LIMITED, targets);
    if (declared) return declared;
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, targets);
    return ROLES.some((role) => role === access) ? 'by method' : 'none';
  }
}

function classOf(method: string): LimitClass {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write';
}

/**
 * Skips six decorator look-ups of ThrottlerGuard per request, which are never used here (4 µs of the 75 µs of a read):
 * handlers declare their limit with `@Limited`.
 */
class WithoutDecorators extends Reflector {
  override getAllAndOverride<T>(): T {
    return undefined as T;
  }
}

/**
 * Runs after authentication, so that a principal has one counter for all calls and addresses, and is never charged for
 * requests of others. Later errors keep the headers.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: LimitStorage,
    private readonly limits: RequestLimits,
    private readonly counter: LimitCounter,
  ) {
    super(options, storage, new WithoutDecorators());
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(this.limitOf(context) === undefined);
  }

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const { caller, ip } = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const limit = this.limitOf(context)!;
    if (caller) await this.counter.charge(limit, `principal ${caller.name}`, reply);
    else await this.counter.chargeAddress(limit, ip, reply);
    return true;
  }

  private limitOf(context: ExecutionContext): NamedLimit | undefined {
    return this.limits.limitOf(context, context.switchToHttp().getRequest<FastifyRequest>());
  }
}
