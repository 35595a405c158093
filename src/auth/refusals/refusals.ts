import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { networkOf } from '../../platform/addresses/network.js';
import { routeOf } from '../../platform/http/known-routes.js';
import type { CallerRefusal, StrangerRefusal } from '../auth.errors.js';
import { RefusalLog } from './refusal-log.js';

/** Who acts in the audit trail where nobody is known. User names have no colon, so that none looks like this. */
export const actorAt = (address: string): string => `address:${address}`;

/** Puts refusals into the words of the audit trail. */
@Injectable()
export class Refusals {
  constructor(private readonly log: RefusalLog) {}

  /** Nobody knows who it was: nothing of what was sent is stored. */
  ofStranger(refusal: StrangerRefusal, { ip }: FastifyRequest): void {
    this.ofAddress(refusal, ip);
  }

  /** A caller who is known may not do what the request wants. */
  async ofCaller(refusal: CallerRefusal, request: FastifyRequest): Promise<void> {
    const { action, actor } = refusal;
    const subject = { type: 'route', id: shownRoute(request) };
    const details = { ...refusal.details, address: request.ip };
    await this.log.count({
      entry: { actor, action, subject, details },
      by: 'principal',
      name: actor,
    });
  }

  /** `username` only when there is such a user: what is typed into that field may be a password. */
  async login(address: string, username: string | undefined, reason: string): Promise<void> {
    const entry = {
      actor: actorAt(address),
      action: 'auth.login_failed',
      subject: { type: 'user', id: username ?? 'unknown' },
      details: { reason },
    } as const;
    await this.log.write(
      username === undefined
        ? { entry, by: 'stranger', name: networkOf(address) }
        : { entry, by: 'account', name: username },
    );
  }

  loginLimit(address: string): void {
    this.ofAddress({ action: 'auth.login_limited' }, address);
  }

  /** One record for all the addresses that guess at an account: there may be as many addresses as guesses. */
  accountLimit(username: string | undefined): void {
    const subject = { type: 'user', id: username ?? 'unknown' };
    const entry = { actor: 'system', action: 'auth.login_limited', subject } as const;
    const by = username === undefined ? 'stranger' : 'account';
    void this.log.count({ entry, by, name: subject.id });
  }

  /** The answer does not wait until the record is written. */
  private ofAddress({ subject, ...refusal }: StrangerRefusal, address: string): void {
    const network = networkOf(address);
    const entry = {
      ...refusal,
      actor: actorAt(network),
      subject: subject ?? { type: 'address', id: network },
    };
    void this.log.count({ entry, by: 'stranger', name: network });
  }
}

function shownRoute(request: FastifyRequest): string {
  return `${request.method} ${routeOf(request) ?? 'unknown'}`;
}
