import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../platform/concurrency/within.js';
import type { Caller } from '../platform/http/caller.js';
import type { Tx, Participant } from '../platform/database/transactions.js';
import {
  HELD,
  type HeldCounts,
  type HeldName,
  type HeldWork,
  type UnderWay,
  KILL_SWITCH_ACTIVATED,
  KILL_SWITCH_DEACTIVATED,
  type KillSwitchState,
  PERMIT_MS,
} from './kill-switch.js';
import { AuditLog } from '../audit/audit-log.js';
import { ReservedConnections } from '../platform/database/reserved-connections.js';
import { DomainEvents } from '../platform/jobs/events/domain-events.js';
import { KillSwitchRepository, type ReadState } from './kill-switch.repository.js';

/** An activation must respond soon, if necessary without the number of calls in progress. */
const COUNT_PATIENCE_MS = 250;

/** Work that other modules registered with the kill switch: calls in progress, and waiting work. */
@Injectable()
export class RegisteredWork {
  private readonly underWay: UnderWay[] = [];
  private readonly held = new Map<HeldName, HeldWork>();

  registerUnderWay(source: UnderWay): void {
    this.underWay.push(source);
  }

  registerHeld(name: HeldName, work: HeldWork): void {
    this.held.set(name, work);
  }

  /** `undefined` if the calls could not be counted in time. */
  async countInFlight(): Promise<number | undefined> {
    const counting = Promise.all(this.underWay.map((source) => source.countClaims()))
      .then((counts) => counts.reduce((sum, { inFlight }) => sum + inFlight, 0))
      .catch(() => undefined);
    return await within(COUNT_PATIENCE_MS, counting, () => undefined);
  }

  countHeld(): Promise<HeldCounts> {
    return this.each((work) => work.count());
  }

  discardHeld(tx: Tx, caller: Caller): Promise<HeldCounts> {
    return this.each((work) => work.discard(tx, caller));
  }

  /** Sequential, because a transaction has one connection. */
  private async each(ask: (work: HeldWork) => Promise<number>): Promise<HeldCounts> {
    const counts: Record<HeldName, number> = { actions: 0, triage_runs: 0, playbook_runs: 0 };
    for (const name of HELD) {
      const work = this.held.get(name);
      if (work) counts[name] = await ask(work);
    }
    return counts;
  }
}

export interface Activated extends KillSwitchState {
  /** Calls that started before and have not ended; `undefined` if they could not be counted in time. */
  readonly inFlight?: number;
}

export interface Deactivated extends KillSwitchState {
  /** Number of discarded pieces of work, if requested. */
  readonly discarded?: HeldCounts;
}

/** Margin for early timers, and for the time between the last check of a permit and the socket. */
const MARGIN_MS = 50;

/** Much longer than a permit is valid, so that a small change of the database clock does no harm. */
const LAPSED_FOR_SURE_MS = 10_000;

/** Permits that were issued before an activation. */
@Injectable()
export class EarlierPermits {
  /**
   * Waits until a permit has expired, unless the activation is old. The end of all claims proves nothing: a hanging
   * replica may not have noticed that it lost its claim.
   *
   * @param activeForMs time since the activation, by the database clock
   */
  async waitUntilLapsed(activeForMs: number): Promise<void> {
    if (activeForMs < LAPSED_FOR_SURE_MS) await sleep(PERMIT_MS + MARGIN_MS);
  }
}

const SUBJECT = { type: 'kill_switch', id: 'kill_switch' } as const;

/** Turns the switch on and off. Repeating the current state changes nothing. */
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
   * Returns when no request with an earlier permit can leave any more. A second activation waits as well, because the
   * first may still be waiting.
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
