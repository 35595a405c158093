import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { within } from '../platform/concurrency/within.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { KillSwitchService } from './kill-switch.service.js';

/** Operators get an answer while the database hangs, too. */
const PATIENCE_MS = 800;

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
    const read = async (): Promise<number> => ((await this.look()).active ? 1 : 0);
    this.gauges.register(this.switchGauge, read);
  }

  private async health(): Promise<ComponentHealth> {
    const { active, reason } = await this.look();
    if (!active) return { status: 'healthy', active };
    return { status: 'degraded', active, message: `The kill switch is on: ${reason}` };
  }

  private look() {
    const unreadable = { active: true, reason: 'it cannot be read in time.' };
    return within(PATIENCE_MS, this.killSwitch.readOrActive(), () => unreadable);
  }
}
