import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge } from 'prom-client';
import { AuditLog } from '../audit/audit-log.js';
import { within } from '../platform/concurrency/within.js';
import { ReservedConnections } from '../platform/database/reserved-connections.js';
import type { Participant, Tx } from '../platform/database/transactions.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import type { Caller } from '../platform/http/caller.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import {
  type HeldCounts,
  KILL_SWITCH_ACTIVATED,
  KILL_SWITCH_DEACTIVATED,
  KillSwitch,
  PERMIT_MS,
} from './kill-switch.js';
import { KillSwitchRepository, type KillSwitchState } from './kill-switch.repository.js';

export interface Activated extends KillSwitchState {
  /** Calls that started before and have not ended; `undefined` if they could not be counted in time. */
  readonly in_flight?: number;
}

export interface Deactivated extends KillSwitchState {
  /** Number of discarded pieces of work, if requested. */
  readonly discarded?: HeldCounts;
}

/** Margin for early timers, and for the time between the last check of a permit and the socket. */
const MARGIN_MS = 50;

/** Much longer than a permit is valid, so that a small change of the database clock does no harm. */
const ALL_LAPSED_MS = 10_000;

/** Health and metrics respond even while the database hangs. */
const PATIENCE_MS = 800;

const SUBJECT = { type: 'kill_switch', id: 'kill_switch' } as const;

/** Turns the switch on and off, and shows it in health and metrics. Repeating the current state changes nothing. */
@Injectable()
export class KillSwitchService implements OnModuleInit {
  private readonly logger = new Logger(KillSwitch.name);

  constructor(
    private readonly connections: ReservedConnections,
    private readonly repository: KillSwitchRepository,
    private readonly killSwitch: KillSwitch,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
    private readonly components: HealthComponents,
    @InjectMetric('kill_switch_active') private readonly switchGauge: Gauge,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    const look = () => within(PATIENCE_MS, this.killSwitch.readIfPossible(), () => undefined);
    this.components.register('kill_switch', async () => healthOf(await look()));
    this.gauges.register(this.switchGauge, async () => {
      const state = await look();
      return state && Number(state.active);
    });
  }

  async readWithHeld(): Promise<KillSwitchState & { readonly held: HeldCounts }> {
    const [state, held] = await Promise.all([this.repository.read(), this.killSwitch.countHeld()]);
    return { ...state, held };
  }

  /**
   * Returns when no request with an earlier permit can leave any more. A second activation waits as well, because the
   * first may still be waiting.
   */
  async activate(
    caller: Caller,
    reason: string,
    idempotency: Participant<Activated>,
  ): Promise<Activated> {
    const state = await this.connections.run<KillSwitchState>(
      async (tx) => {
        await this.lock(tx);
        const changed = await this.repository.activate(tx, reason, caller.name);
        if (!changed) return await this.repository.read(tx);
        await this.record(tx, caller, KILL_SWITCH_ACTIVATED, { reason });
        return changed;
      },
      caller,
      idempotency,
    );
    await this.waitForEarlierPermits(state.active_for_ms ?? 0);
    return { ...state, in_flight: await this.killSwitch.countInFlight() };
  }

  async deactivate(
    caller: Caller,
    { reason, discard }: { readonly reason: string; readonly discard: boolean },
    idempotency: Participant<Deactivated>,
  ): Promise<Deactivated> {
    const state = await this.connections.run<Deactivated>(
      async (tx) => {
        await this.lock(tx);
        const changed = await this.repository.deactivate(tx, reason, caller.name);
        if (!changed) return await this.repository.read(tx);
        const discarded = discard ? await this.killSwitch.discardHeld(tx, caller) : undefined;
        await this.record(tx, caller, KILL_SWITCH_DEACTIVATED, { reason, discarded });
        return { ...changed, discarded };
      },
      caller,
      idempotency,
    );
    this.killSwitch.turnedOff();
    return state;
  }

  /**
   * Waits until the permits issued before an activation have expired, unless the activation is old. The end of all
   * claims proves nothing: a hanging replica may not have noticed that it lost its claim.
   *
   * @param activeForMs time since the activation, by the database clock
   */
  private async waitForEarlierPermits(activeForMs: number): Promise<void> {
    if (activeForMs < ALL_LAPSED_MS) await sleep(PERMIT_MS + MARGIN_MS);
  }

  private async lock(tx: Tx): Promise<void> {
    if (await this.repository.lockExclusively(tx)) return;
    this.logger.warn('A claim holds the lock of the kill switch. Changing the switch without it.');
  }

  private async record(
    tx: Tx,
    { name }: Caller,
    type: typeof KILL_SWITCH_ACTIVATED | typeof KILL_SWITCH_DEACTIVATED,
    details: Record<string, unknown>,
  ): Promise<void> {
    await this.audit.record(tx, { actor: name, action: type, subject: SUBJECT, details });
    await this.events.record(tx, { type, subject: SUBJECT, payload: { by: name, ...details } });
  }
}

function healthOf(state: KillSwitchState | undefined): ComponentHealth {
  // Without `active`, so that a database outage is not shown as an activation.
  if (!state) return { status: 'degraded', message: UNREADABLE };
  const { active, reason } = state;
  if (!active) return { status: 'healthy', active };
  return { status: 'degraded', active, message: `The kill switch is on: ${reason}` };
}

const UNREADABLE =
  'The kill switch cannot be read, so it counts as on: no action, look-up or model call starts.';
