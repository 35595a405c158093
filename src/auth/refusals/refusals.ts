import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AuditEntry } from '../../audit/audit-entry.js';
import type { Role, ApprovalLevel } from '../../platform/access/roles.js';
import { networkOf } from '../../platform/addresses/network.js';
import type { Principal } from '../principal.js';
import { RefusalLog } from './refusal-log.js';

/** An address is no principal; the colon keeps it apart from every user name. */
export const actorAt = (address: string): string => `address:${address}`;

/** What is turned away, in the words of the audit record. */
@Injectable()
export class Refusals {
  constructor(private readonly log: RefusalLog) {}

  /** Which key it was is not known: nothing of what was sent is kept. */
  key(request: FastifyRequest): void {
    this.stranger('auth.key_refused', request.ip);
  }

  async crossOrigin(name: string, request: FastifyRequest): Promise<void> {
    await this.principal('auth.cross_origin_refused', name, request, {});
  }

  async role(caller: Principal, required: Role, request: FastifyRequest): Promise<void> {
    const details = { role: caller.role, required_role: required };
    await this.principal('auth.role_refused', caller.name, request, details);
  }

  /** Who wanted to decide on, or roll back, what is above their approval level. */
  async level(caller: Principal, required: ApprovalLevel, request: FastifyRequest): Promise<void> {
    const details = { role: caller.role, required_level: required };
    await this.principal('auth.level_refused', caller.name, request, details);
  }

  /** Who wanted to approve what they had asked for themselves, where that is forbidden. */
  async ownRequest(caller: Principal, request: FastifyRequest): Promise<void> {
    await this.principal('auth.own_request_refused', caller.name, request, {});
  }

  /** `about` is the user name, when there is such a user: what is typed there may be a password. */
  async login(address: string, about: string | undefined, reason: string): Promise<void> {
    const entry = {
      actor: actorAt(address),
      action: 'auth.login_failed',
      subject: { type: 'user', id: about ?? 'unknown' },
      details: { reason },
    } as const;
    await this.log.write(
      about === undefined
        ? { entry, by: 'stranger', name: networkOf(address) }
        : { entry, by: 'account', name: about },
    );
  }

  loginLimit(address: string): void {
    this.stranger('auth.login_limited', address);
  }

  /** One record for all the addresses that guess at an account: they may be as many as there are guesses. */
  accountLimit(username: string | undefined): void {
    const subject = { type: 'user', id: username ?? 'unknown' };
    const entry = { actor: 'system', action: 'auth.login_limited', subject } as const;
    void this.log.count({
      entry,
      by: username === undefined ? 'stranger' : 'account',
      name: subject.id,
    });
  }

  private async principal(
    action: AuditEntry['action'],
    name: string,
    request: FastifyRequest,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const subject = { type: 'route', id: routeOf(request) };
    const entry = { actor: name, action, subject, details: { ...details, address: request.ip } };
    await this.log.count({ entry, by: 'principal', name });
  }

  /** Nobody waits for it to be written. */
  private stranger(action: AuditEntry['action'], address: string): void {
    const network = networkOf(address);
    const entry = { actor: actorAt(network), action, subject: { type: 'address', id: network } };
    void this.log.count({ entry, by: 'stranger', name: network });
  }
}

function routeOf(request: FastifyRequest): string {
  return `${request.method} ${request.routeOptions.url ?? 'unknown'}`;
}
