import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { LimitStorage } from '../platform/limits/limit-storage.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

/** Redis counts the rate limits of all replicas, and does nothing else here: without it each one goes on by itself. */
@Injectable()
export class RedisHealth implements OnModuleInit {
  constructor(
    private readonly limits: LimitStorage,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('redis_up') private readonly up: Gauge,
  ) {}

  onModuleInit(): void {
    this.components.register('redis', () => this.check());
    this.gauges.register(this.up, async () => {
      const works = await this.limits.sharedWorks();
      return works === undefined ? undefined : Number(works);
    });
  }

  private async check(): Promise<ComponentHealth> {
    switch (await this.limits.sharedWorks()) {
      case undefined:
        return {
          status: 'disabled',
          message: 'REDIS_URL is not set: each replica counts for itself.',
        };
      case true:
        return { status: 'healthy' };
      case false:
        return {
          status: 'degraded',
          message: 'Redis does not count the rate limits: each replica counts for itself.',
        };
    }
  }
}
