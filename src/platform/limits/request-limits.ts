import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ACCESS, type Access } from '../access/access.js';
import { ROLES } from '../access/roles.js';
import type { Caller, LimitClass } from '../http/caller.js';
import { Settings } from '../config/settings.js';
import { LIMITED, type Limited, type NamedLimit, STRANGERS_PER_MINUTE } from './limited.js';

/** Decides which limit a request counts against. */
@Injectable()
export class RequestLimits {
  private readonly declared = new WeakMap<object, Limited | 'by method'>();
  private readonly configured: Readonly<Record<LimitClass, number>>;

  constructor(
    private readonly reflector: Reflector,
    settings: Settings,
  ) {
    this.configured = {
      read: settings.rateLimitRead,
      write: settings.rateLimitWrite,
      triage: settings.rateLimitTriage,
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
    return caller?.limits?.[name] ?? this.configured[name];
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

  /** Without a declaration: what needs a role is limited; health, metrics, documents and receipts are not. */
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
