import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditLog } from '../audit/audit-log.js';
import { ReservedConnections } from '../platform/database/reserved-connections.js';
import type { Participant, Tx } from '../platform/database/transactions.js';
import type { Caller } from '../platform/http/caller.js';
import { DomainEvents } from '../platform/jobs/events/domain-events.js';
import {
  type HeldCounts,
  KILL_SWITCH_ACTIVATED,
  KILL_SWITCH_DEACTIVATED,
  type KillSwitchState,
} from './kill-switch.js';
import { KillSwitchRepository, type ReadState } from './kill-switch.repository.js';
import { PERMIT_MS } from './permit.js';
import { RegisteredWork } from './registered-work.js';

export interface Activated extends KillSwitchState {
  /** Calls that were started before and have not ended; undefined when they could not be counted in time. */
  readonly inFlight?: number;
}

export interface Deactivated extends KillSwitchState {
  /** How much waiting work was ended, where that was asked for. */
  readonly discarded?: HeldCounts;
}

/** For timers that fire early, and for the way from the last check of a permit to the socket. */
const MARGIN_MS = 50;

/** Well beyond the time that a permit holds, so that a small change of the database's clock does no harm. */
const LAPSED_FOR_SURE_MS = 10_000;

/** The permits that were given before an activation. */
@Injectable()
export class EarlierPermits {
  /**
   * Waits the whole time that a permit holds, unless the activation is old. That all claims have ended would not be
   * enough to know: a replica that hung may have lost its claim to another one and not have noticed yet.
   *
   * @param activeForMs how long the switch has been on, by the database's clock
   */
  async waitUntilLapsed(activeForMs: number): Promise<void> {
    if (activeForMs < LAPSED_FOR_SURE_MS) await sleep(PERMIT_MS + MARGIN_MS);
  }
}

const SUBJECT = { type: 'kill_switch', id: 'kill_switch' } as const;

/** Turns the switch on and off. Turning it on when it is on, or off when it is off, changes nothing. */
@Injectable()
export class KillSwitchActivation {
  constructor(
    private readonly connections: ReservedConnections,
    private readonly repository: KillSwitchRepository,
    private readonly earlierPermits: EarlierPermits,
    private readonly work: RegisteredWork,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
  ) {}

  /**
   * Returns when no request on a permit from before can leave any more. A second activation waits as well, because the
   * first may not have been answered yet.
   */
  async activate(
    caller: Caller,
    reason: string,
    idempotency: Participant<Activated>,
  ): Promise<Activated> {
    const { activeForMs = 0, ...state } = await this.connections.run<ReadState>(
      async (tx) => {
        await this.repository.lockExclusively(tx);
        const changed = await this.repository.activate(tx, reason, caller.name);
        if (!changed) return await this.repository.readIn(tx);
        await this.record(tx, caller, KILL_SWITCH_ACTIVATED, { reason });
        return changed;
      },
      caller,
      idempotency,
    );
    await this.earlierPermits.waitUntilLapsed(activeForMs);
    return { ...state, inFlight: await this.work.countInFlight() };
  }

  async deactivate(
    caller: Caller,
    { reason, discard }: { readonly reason: string; readonly discard: boolean },
    idempotency: Participant<Deactivated>,
  ): Promise<Deactivated> {
    return await this.connections.run<Deactivated>(
      async (tx) => {
        await this.repository.lockExclusively(tx);
        const changed = await this.repository.deactivate(tx, reason, caller.name);
        if (!changed) return await this.repository.readIn(tx);
        const discarded = discard ? await this.work.discardHeld(tx, caller) : undefined;
        await this.record(tx, caller, KILL_SWITCH_DEACTIVATED, { reason, discarded });
        return { ...changed, discarded };
      },
      caller,
      idempotency,
    );
  }

  private async record(
    tx: Tx,
    caller: Caller,
    type: typeof KILL_SWITCH_ACTIVATED | typeof KILL_SWITCH_DEACTIVATED,
    details: Record<string, unknown>,
  ): Promise<void> {
    await this.audit.record(tx, { actor: caller.name, action: type, subject: SUBJECT, details });
    await this.events.record(tx, {
      type,
      subject: SUBJECT,
      payload: { by: caller.name, ...details },
    });
  }
}
