import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { type Tx, Transactions } from '../platform/database/transactions.js';
import { RegisteredWork } from './kill-switch-activation.js';
import {
  type HeldName,
  type HeldWork,
  KillSwitch,
  type UnderWay,
  type HeldCounts,
  type KillSwitchState,
  KillSwitchActiveError,
  Permit,
  type PermitTimes,
  presentTimes,
} from './kill-switch.js';
import { KillSwitchRepository } from './kill-switch.repository.js';
import { within } from '../platform/concurrency/within.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

/** Issues permits for claims, and reads the switch. */
@Injectable()
export class KillSwitchService extends KillSwitch {
  /**
   * Times at which transactions read the switch. With the lock that they hold, it cannot be turned on before they end.
   */
  private readonly claimedIn = new WeakMap<Tx, Promise<PermitTimes>>();

  constructor(
    private readonly transactions: Transactions,
    private readonly repository: KillSwitchRepository,
    private readonly work: RegisteredWork,
  ) {
    super();
  }

  async claimPermit(tx: Tx): Promise<Permit> {
    const claimed = this.claimedIn.get(tx) ?? this.readOff(tx);
    this.claimedIn.set(tx, claimed);
    return new Permit(await claimed);
  }

  private async readOff(tx: Tx): Promise<PermitTimes> {
    await this.repository.lockShared(tx);
    const since = presentTimes();
    // A separate statement, so that it sees commits during the wait for the lock.
    const state = await this.repository.readIn(tx);
    if (state.active) throw new KillSwitchActiveError(state);
    return since;
  }

  async renewPermit(reclaim?: (tx: Tx) => Promise<void>): Promise<Permit> {
    return await this.transactions.run(async (tx) => {
      const permit = await this.claimPermit(tx);
      await reclaim?.(tx);
      return permit;
    });
  }

  async isActive(): Promise<boolean> {
    return (await this.readIfPossible())?.active ?? true;
  }

  /** A switch that cannot be read counts as active. */
  async readIfPossible(): Promise<KillSwitchState | undefined> {
    return await this.repository.read().catch(() => undefined);
  }

  /** The switch, and the number of waiting pieces of work. */
  async readWithHeld(): Promise<{ readonly state: KillSwitchState; readonly held: HeldCounts }> {
    const [state, held] = await Promise.all([this.repository.read(), this.work.countHeld()]);
    return { state, held };
  }

  registerUnderWay(source: UnderWay): void {
    this.work.registerUnderWay(source);
  }

  registerHeld(name: HeldName, work: HeldWork): void {
    this.work.registerHeld(name, work);
  }
}

/** Health and metrics respond even while the database hangs. */
const PATIENCE_MS = 800;

/** Without `active`, so that a database outage is not shown as an activation. */
const NOT_KNOWN =
  'The kill switch cannot be read, so its state is unknown. Nothing that it would stop starts until it can be read.';

/** Shows the switch in health and metrics. */
@Injectable()
export class KillSwitchSignals implements OnModuleInit {
  constructor(
    private readonly killSwitch: KillSwitchService,
    private readonly components: HealthComponents,
    @InjectMetric('kill_switch_active') private readonly switchGauge: Gauge,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.components.register('kill_switch', () => this.health());
    this.gauges.register(this.switchGauge, async () => {
      const state = await this.look();
      return state && Number(state.active);
    });
  }

  private async health(): Promise<ComponentHealth> {
    const state = await this.look();
    if (!state) return { status: 'degraded', message: NOT_KNOWN };
    const { active, reason } = state;
    if (!active) return { status: 'healthy', active };
    return { status: 'degraded', active, message: `The kill switch is on: ${reason}` };
  }

  private look(): Promise<KillSwitchState | undefined> {
    return within(PATIENCE_MS, this.killSwitch.readIfPossible(), () => undefined);
  }
}
