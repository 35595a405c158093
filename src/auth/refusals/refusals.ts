import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Role } from '../../common/access.js';
import type { ApprovalLevel, Principal } from '../principal.js';
import { RefusalLog } from './refusal-log.js';

/** An address is no principal; the colon keeps it apart from every user name. */
export const actorAt = (address: string): string => `address:${address}`;

/** What is turned away, in the words of the audit record. */
@Injectable()
export class Refusals {
  constructor(private readonly log: RefusalLog) {}

  /** Which key it was is not known: nothing of what was sent is kept. */
  key(request: FastifyRequest): void {
    void this.log.count({
      actor: actorAt(request.ip),
      action: 'auth.key_refused',
      subject: { type: 'address', id: request.ip },
    });
  }

  crossOrigin(name: string, request: FastifyRequest): void {
    void this.log.count({
      actor: name,
      action: 'auth.cross_origin_refused',
      subject: { type: 'route', id: routeOf(request) },
      details: { address: request.ip },
    });
  }

  async role(caller: Principal, required: Role, request: FastifyRequest): Promise<void> {
    await this.log.count({
      actor: caller.name,
      action: 'auth.role_refused',
      subject: { type: 'route', id: routeOf(request) },
      details: { role: caller.role, required_role: required, address: request.ip },
    });
  }

  /** Who wanted to decide on, or roll back, what is above their approval level. */
  async level(caller: Principal, required: ApprovalLevel, request: FastifyRequest): Promise<void> {
    await this.log.count({
      actor: caller.name,
      action: 'auth.level_refused',
      subject: { type: 'route', id: routeOf(request) },
      details: { role: caller.role, required_level: required, address: request.ip },
    });
  }

  /** Who wanted to approve what they had asked for themselves, where that is forbidden. */
  async ownRequest(caller: Principal, request: FastifyRequest): Promise<void> {
    await this.log.count({
      actor: caller.name,
      action: 'auth.own_request_refused',
      subject: { type: 'route', id: routeOf(request) },
      details: { address: request.ip },
    });
  }

  /** `about` is the user name, when there is such a user: what is typed there may be a password. */
  async login(address: string, about: string | undefined, reason: string): Promise<void> {
    await this.log.write({
      actor: actorAt(address),
      action: 'auth.login_failed',
      subject: { type: 'user', id: about ?? 'unknown' },
      details: { reason },
    });
  }

  loginLimit(address: string): void {
    void this.log.count({
      actor: actorAt(address),
      action: 'auth.login_limited',
      subject: { type: 'address', id: address },
    });
  }
}

function routeOf(request: FastifyRequest): string {
  return `${request.method} ${request.routeOptions.url ?? 'unknown'}`;
}
