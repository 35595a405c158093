import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import type { Caller } from '../platform/http/caller.js';
import { ReservedConnections } from '../platform/database/reserved-connections.js';
import type { Participant, Tx } from '../platform/database/transactions.js';
import { DomainEvents } from '../platform/jobs/events/domain-events.js';
import { RegisteredWork, type HeldCounts } from './registered-work.js';
import { KILL_SWITCH_ACTIVATED, KILL_SWITCH_DEACTIVATED } from './kill-switch.js';
import type { KillSwitchState } from './kill-switch.errors.js';
import { KillSwitchRepository, type ReadState } from './kill-switch.repository.js';
import { EarlierPermits } from './settling.js';
import { SwitchLock } from './switch-lock.js';

export interface Activated extends KillSwitchState {
  /** Absent when it could not be counted in time. */
  readonly inFlight?: number;
}

export interface Deactivated extends KillSwitchState {
  /** What was discarded, where that was asked for. */
  readonly discarded?: HeldCounts;
}

const SUBJECT = { type: 'kill_switch', id: 'kill_switch' } as const;

/** Turns the switch on and off. Turning it to where it is already changes nothing. */
@Injectable()
export class KillSwitchActivation {
  constructor(
    private readonly connections: ReservedConnections,
    private readonly states: KillSwitchRepository,
    private readonly lock: SwitchLock,
    private readonly earlierPermits: EarlierPermits,
    private readonly work: RegisteredWork,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
  ) {}

  /**
   * Returns when nothing that was let through before can start any more. A second activation, too: the first may not
   * have been answered yet.
   */
  async activate(
    caller: Caller,
    reason: string,
    idempotency: Participant<Activated>,
  ): Promise<Activated> {
    const state = await this.connections.run<ReadState>(
      async (tx) => {
        await this.lock.lockExclusively(tx);
        const changed = await this.states.activate(tx, reason, caller.name);
        if (changed) {
          await this.record(tx, caller, KILL_SWITCH_ACTIVATED, { reason });
        }
        return changed ?? (await this.states.readIn(tx));
      },
      caller,
      idempotency,
    );
    await this.earlierPermits.waitUntilLapsed(state.activeForMs ?? 0);
    const inFlight = await this.work.inFlight();
    return { ...state, inFlight };
  }

  async deactivate(
    caller: Caller,
    { reason, discard }: { readonly reason: string; readonly discard: boolean },
    idempotency: Participant<Deactivated>,
  ): Promise<Deactivated> {
    return await this.connections.run<Deactivated>(
      async (tx) => {
        await this.lock.lockExclusively(tx);
        const changed = await this.states.deactivate(tx, reason, caller.name);
        if (!changed) return await this.states.readIn(tx);
        const discarded = discard ? await this.work.discardHeld(tx, caller) : undefined;
        const more = discarded && { discarded };
        await this.record(tx, caller, KILL_SWITCH_DEACTIVATED, { reason, ...more });
        return { ...changed, ...more };
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
