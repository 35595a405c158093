import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { within } from '../platform/concurrency/within.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import type { KillSwitchState } from './kill-switch.js';
import { KillSwitchService } from './kill-switch.service.js';

/** Operators get an answer while the database hangs, too. */
const PATIENCE_MS = 800;

/** Without `active`: nobody should learn from an outage of the database that somebody stopped everything. */
const NOT_KNOWN =
  'It is not known whether the kill switch is on: it cannot be read. Until it can, nothing begins that it would stop.';

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
