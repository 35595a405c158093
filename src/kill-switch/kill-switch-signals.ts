import { Injectable, type OnModuleInit } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { KillSwitchService } from './kill-switch.service.js';

/** Whoever looks gets an answer while the database hangs, too. */
const PATIENCE_MS = 800;

/** Shows operators how the switch stands. */
@Injectable()
export class KillSwitchSignals implements OnModuleInit {
  constructor(
    private readonly killSwitch: KillSwitchService,
    private readonly components: HealthComponents,
    private readonly metrics: Metrics,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.components.register('kill_switch', () => this.health());
    const read = async (): Promise<number> => ((await this.look()).active ? 1 : 0);
    this.gauges.register(this.metrics.killSwitchActive, read);
  }

  private async health(): Promise<ComponentHealth> {
    const { active, reason } = await this.look();
    if (!active) return { status: 'healthy', active };
    return { status: 'degraded', active, message: `The kill switch is on: ${reason}` };
  }

  private look() {
    const unreadable = { active: true, reason: 'it cannot be read in time.' };
    return Promise.race([
      this.killSwitch.readOrActive(),
      sleep(PATIENCE_MS, unreadable, { ref: false }),
    ]);
  }
}
