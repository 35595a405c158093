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
import { countedNetworks } from '../addresses/network.js';
import { presentTime } from '../clock.js';
import type { Caller, LimitClass } from '../http/request.js';
import { Settings } from '../config/settings.js';
import { AppError } from '../errors/app-error.js';
import '../http/request.js';
import { type LimitRecord, LimitStorage, wholeSeconds } from './limit-storage.js';

const MINUTE = 60_000;

export interface NamedLimit {
  readonly name: string;
  readonly perMinute: number;
}

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

/** Charges requests to limits. For RateLimitGuard, and for guards that determine the charged key themselves. */
@Injectable()
export class LimitCounter {
  constructor(private readonly storage: LimitStorage) {}

  /** Sets the rate-limit headers, and rejects a request over the limit. 0 means no limit. */
  async charge({ name, perMinute }: NamedLimit, key: string, reply: FastifyReply): Promise<void> {
    if (perMinute === 0) return;
    settle(perMinute, await this.storage.increment(key, MINUTE, perMinute, MINUTE, name), reply);
  }

  /** Charges further hits of an accepted request, such as the events of a body. Never rejects. */
  async add({ name, perMinute }: NamedLimit, key: string, hits: number): Promise<void> {
    if (perMinute === 0 || hits === 0) return;
    await this.storage.increment(key, MINUTE, Number.MAX_SAFE_INTEGER, MINUTE, name, hits);
  }

  /**
   * Counts the copies of one message within a minute and rejects copies over the limit, because a third party may
   * replay the message. Returns true for the first copy.
   */
  async isFirst({ name, perMinute }: NamedLimit, message: string): Promise<boolean> {
    const state = await this.storage.increment(message, MINUTE, perMinute, MINUTE, name);
    settle(perMinute, state);
    return state.totalHits === 1;
  }

  /**
   * Charges a request without a principal to the networks of its address. The headers show the limit of its own
   * network, or of the wider network that is full. A request that the wider network rejects is not counted.
   */
  async chargeAddress(limit: NamedLimit, address: string, reply: FastifyReply): Promise<void> {
    const [own, ...wider] = countedNetworks(address).map(({ name, share }) => ({
      key: `address ${name}`,
      perMinute: limit.perMinute * share,
    }));
    for (const { key, perMinute } of wider) {
      const state = await this.storage.peek(key, MINUTE, perMinute, limit.name);
      if (state.isBlocked) settle(perMinute, state, reply);
    }
    await this.charge(limit, own!.key, reply);
    for (const { key } of wider) await this.add(limit, key, 1);
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
  if (!isBlocked) return;
  const seconds = wholeSeconds(timeToExpire);
  const message = `At most ${perMinute} of these requests are allowed per minute. Retry in ${seconds} s.`;
  throw new AppError('rate_limited', message, { headers: { 'retry-after': String(seconds) } });
}

/** Disables the decorators of ThrottlerGuard, whose look-ups cost 4 µs per read. Handlers declare `@Limited`. */
const NO_DECORATORS = { getAllAndOverride: () => undefined } as unknown as Reflector;

/**
 * Runs after authentication, so that a principal has one counter for all calls and addresses, and is never charged for
 * requests of others. Later errors keep the headers.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  private readonly declared = new WeakMap<object, Limited | 'by method'>();
  private readonly ofKeys: Readonly<Record<LimitClass, number>>;
  /** Web pages of people send more requests than programs. */
  private readonly ofPersons: Readonly<Record<LimitClass, number>>;

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: LimitStorage,
    private readonly handlers: Reflector,
    private readonly counter: LimitCounter,
    settings: Settings,
  ) {
    super(options, storage, NO_DECORATORS);
    const { rateLimitRead: read, rateLimitWrite: write, rateLimitTriage: triage } = settings;
    this.ofKeys = { read, write, triage };
    const { rateLimitPersonRead, rateLimitPersonWrite } = settings;
    this.ofPersons = { read: rateLimitPersonRead, write: rateLimitPersonWrite, triage };
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
    const { caller, method } = context.switchToHttp().getRequest<FastifyRequest>();
    const declared = this.declarationOf(context);
    if (typeof declared === 'object') return declared;
    if (declared === 'none') return undefined;
    if (declared === 'login' || declared === 'logout') {
      return caller ? undefined : { name: declared, perMinute: STRANGERS_PER_MINUTE };
    }
    const byMethod = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
    const name = declared === 'by method' ? byMethod : declared;
    const perMinute = this.perMinute(name, caller);
    return perMinute > 0 ? { name, perMinute } : undefined;
  }

  /** A class never lowers the configured limit. A configured 0 means no limit. */
  private perMinute(name: LimitClass, caller: Caller | undefined): number {
    if (caller?.sessionId !== undefined) return this.ofPersons[name];
    const configured = this.ofKeys[name];
    const isRaised = caller?.limit_class === 'integration' && name !== 'triage' && configured > 0;
    const ofClass = isRaised ? Math.max(configured, INTEGRATION_LIMITS[name]) : configured;
    return caller?.limits?.[name] ?? ofClass;
  }

  /** By default, handlers with a role are limited; health, metrics, documents and receipts are not. */
  private declarationOf(context: ExecutionContext): Limited | 'by method' {
    const targets = [context.getHandler(), context.getClass()];
    const known = this.declared.get(targets[0]!);
    if (known) return known;
    const access = this.handlers.getAllAndOverride<Access | undefined>(ACCESS, targets);
    const declared =
      this.handlers.getAllAndOverride<Limited | undefined>(LIMITED, targets) ??
      (ROLES.some((role) => role === access) ? 'by method' : 'none');
    this.declared.set(targets[0]!, declared);
    return declared;
  }
}

/** Failures per minute and address, by kind. */
export const FAILURES_PER_MINUTE = {
  login: 10,
  key: 60,
  metrics_token: 60,
  webhook: 60,
} as const;
type FailureKind = keyof typeof FAILURES_PER_MINUTE | 'account';

/** Failures of one account, summed over all unknown addresses. */
const OF_ACCOUNT = [
  { name: 'failed_account', ttl: MINUTE, most: 10 },
  { name: 'failed_account_hour', ttl: 60 * MINUTE, most: 60 },
];

/**
 * Slows down guessing. Checked only after a failure (or before a password is hashed), so that a valid key, session or
 * signature is never rejected because of other callers at the same address.
 */
@Injectable()
export class FailureLimits {
  constructor(private readonly storage: LimitStorage) {}

  /** Returns the seconds until the address or account may retry; `undefined` if it may retry now. */
  async blocked(kind: FailureKind, subject: string): Promise<number | undefined> {
    for (const { name, key, ttl, most } of allowancesOf(kind, subject)) {
      const state = await this.storage.peek(key, ttl, most, name);
      if (state.isBlocked) return wholeSeconds(state.timeToExpire);
    }
    return undefined;
  }

  /**
   * Counts a failure. Over the limit, returns the seconds to wait. The caller then reports the wait instead of the
   * error, so that parallel guesses reveal no more than sequential guesses.
   */
  async record(kind: FailureKind, subject: string): Promise<number | undefined> {
    for (const { name, key, ttl, most } of allowancesOf(kind, subject)) {
      const state = await this.storage.increment(key, ttl, most, ttl, name);
      if (state.isBlocked) return wholeSeconds(state.timeToExpire);
    }
    return undefined;
  }
}

function allowancesOf(kind: FailureKind, subject: string) {
  if (kind === 'account') return OF_ACCOUNT.map((allowance) => ({ ...allowance, key: subject }));
  return countedNetworks(subject).map(({ name: key, share }) => ({
    name: `failed_${kind}`,
    key,
    ttl: MINUTE,
    most: share * FAILURES_PER_MINUTE[kind],
  }));
}
